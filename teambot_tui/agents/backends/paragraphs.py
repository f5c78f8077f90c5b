"""A blank line between two messages of one answer: agents send the messages, and not what stands between."""

from __future__ import annotations


class Paragraphs:
    """Follows the text of an answer and parts its messages."""

    def __init__(self) -> None:
        self.has_begun = False
        """Whether anything was said."""
        self.is_new = True
        """Whether what is said next begins a paragraph."""
        self._newlines = 0

    def pause(self) -> None:
        """Let what is said next begin a paragraph."""
        self.is_new = True

    def say(self, text: str) -> str:
        """Return a piece of the answer with what must stand before it."""
        if not text:
            return ""
        if self.is_new and self.has_begun:
            leading = len(text) - len(text.lstrip("\n"))
            text = "\n" * max(0, 2 - self._newlines - leading) + text
        self.is_new, self.has_begun = False, True
        self._newlines = len(text) - len(text.rstrip("\n"))
        return text
