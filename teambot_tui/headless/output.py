"""Standard output may go away: when nobody reads it any more, nothing breaks and someone is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO


class OutputStream:
    """A text stream that is flushed with every write and reports, once, that its reader is gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.gone = False
        self.on_gone: Callable[[], None] = lambda: None

    @property
    def speaks_unicode(self) -> bool:
        """Whether any character can be written."""
        return self._stream.encoding.lower().replace("-", "") == "utf8"

    def wants_colour(self, no_colour: str | None) -> bool:
        """Whether a person watches who did not ask for plain text."""
        return self._stream.isatty() and not no_colour

    def write(self, text: str) -> None:
        """Write, unless the reader is gone."""
        if self.gone:
            return
        if not self.speaks_unicode:
            text = text.encode(self._stream.encoding, "replace").decode(self._stream.encoding)
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self.gone = True
            self.on_gone()
