"""The help, made from the tables of keys and commands, so that it cannot be out of date."""

from __future__ import annotations

from textual.content import Content

from teambot_tui.ui.commands import overview
from teambot_tui.ui.keys import KEYS


def help_text() -> Content:
    """Return all keys by place, and all commands."""
    width = max(len(_written(key.keys)) for key in KEYS)
    lines: list[Content] = []
    for where in dict.fromkeys(key.where for key in KEYS):
        lines.append(Content(where).stylize("bold"))
        lines += [
            Content(f"  {_written(key.keys):{width}}  ").stylize("$accent") + Content(key.words)
            for key in KEYS
            if key.where == where
        ]
        lines.append(Content(""))
    return Content("\n").join([*lines, Content("commands").stylize("bold"), overview()])


def _written(keys: str) -> str:
    first, *rest = keys.split(",")
    return f"{first}…{rest[-1]}" if rest else first
