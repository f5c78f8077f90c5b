"""The names of the language: how an id is written, which aliases and slash commands there are."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ID: Final = r"[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+(?![A-Za-z0-9_])"
"""The pattern of an agent id. Possessive, so that it never reads a character twice."""

VARIABLE: Final = r"[a-z][a-z0-9_]*+"
"""The pattern of a variable's name."""

PARTS: Final = ("diff", "files", "output")
"""What of a task `$agent.part` can mean."""

FIELDS: Final = ("base", "prompt", "model")
"""What a definition may say."""

REQUIRED_FIELDS: Final = ("base", "prompt")

ALIASES: Final = {"project_manager": "pm", "business_analyst": "ba", "technical_writer": "writer"}

EVERYONE: Final = "all"
"""`@all` is every agent of the team."""

PERSON: Final = "me"
"""`@me` is the person at the keyboard."""

RESERVED: Final = {EVERYONE: "the whole team", PERSON: "the person at the keyboard"}
"""The ids that no agent can have, and what they mean."""

RESERVED_WORDS: Final = " and ".join(f"{name} means {meaning}" for name, meaning in RESERVED.items())

COMMANDS: Final = (
    "help",
    "status",
    "tasks",
    "task",
    "cancel",
    "retry",
    "again",
    "compare",
    "agents",
    "models",
    "model",
    "use-agent",
    "reset-agent",
    "define",
    "promote",
    "forget",
    "spawn",
    "forget-context",
    "budget",
    "context",
    "vars",
    "graph",
    "timeline",
    "up",
    "save",
    "history",
    "export",
    "theme",
    "clear",
    "quit",
    "exit",
)

_AGENT_ID = re.compile(ID)
_VARIABLE = re.compile(VARIABLE)


def is_agent_id(name: str) -> bool:
    """Whether the whole name is written as an agent id."""
    return _AGENT_ID.fullmatch(name) is not None


def is_variable(name: str) -> bool:
    """Whether the whole name is written as a variable's name."""
    return _VARIABLE.fullmatch(name) is not None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to a mistyped one, if any is near."""
    near = difflib.get_close_matches(name[:64].lower(), list(known), n=1, cutoff=0.6)
    return near[0] if near else None
