"""The manual: one Markdown page per topic, read only when somebody asks for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from teambot_tui.language.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPICS: Final = {
    "start": "the first minute",
    "language": "who does what, and whose work goes where",
    "screen": "what you see",
    "keys": "every key, and your own",
    "commands": "what begins with a slash",
    "agents": "connect real agents, and say who they are",
    "backends": "what agents run on",
    "permissions": "when an agent needs you",
    "trust": "files of a directory that you cloned",
    "variables": "temporary agents, variables, directives",
    "spawn": "runs that wait for runs, the shared context, agents that start others",
    "workflows": "whole workflows in compose files",
    "budget": "tokens and cost",
    "headless": "teambot run and the other commands",
    "json": "events for scripts",
    "api": "from Python",
    "settings": "everything that can be set",
    "web": "the screen in a browser",
    "privacy": "what is kept, and what leaves this machine",
    "changelog": "what is new",
}
"""Every page by its topic, in the order to read them, and what it is about."""

_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


class NoTopicError(Exception):
    """There is no page about it; the text says which there are."""


def page(topic: str) -> str:
    """Return the Markdown of a page.

    Raises:
        NoTopicError: There is none.
    """
    if topic not in TOPICS:
        near = did_you_mean(topic, TOPICS)
        hint = f"Did you mean {near}?" if near else f"Topics: {', '.join(TOPICS)}."
        raise NoTopicError(f"There is no help about {topic}. {hint}")
    return (Path(__file__).parent / f"{topic}.md").read_text(encoding="utf-8")


def plain_page(topic: str) -> str:
    """Return a page for a terminal: links to other pages are words there.

    Raises:
        NoTopicError: There is none.
    """
    return _LINK.sub(r"\1", page(topic))


class Passage(NamedTuple):
    """A piece of the manual, as Markdown, and the page it is from."""

    topic: str
    text: str


def search(text: str) -> list[Passage]:
    """Return the passages of the manual that contain a text, in any case, page by page."""
    wanted = text.casefold()
    return [
        Passage(topic, each)
        for topic in TOPICS
        for each in _passages(plain_page(topic))
        if wanted in each.casefold()
    ]


def _passages(text: str) -> Iterator[str]:
    """Yield the paragraphs, the rows of tables each with its head, and code blocks whole."""
    block: list[str] = []
    fence = ""
    for line in [*text.split("\n"), ""]:
        if not fence and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
        elif fence and line.startswith(fence):
            fence = ""
        if fence or line:
            block.append(line)
            continue
        if block and block[0].startswith("|"):
            head, rows = block[:2], block[2:]
            yield from ("\n".join([*head, row]) for row in rows)
        elif block and not block[0].startswith("#"):
            yield "\n".join(block)
        block = []
