"""The help, made from the tables of keys and commands, so that it cannot be out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from teambot_tui.ui.commands import overview

if TYPE_CHECKING:
    from teambot_tui.ui.keys import Keys

_SEVERAL = 3


def help_text(keys: Keys) -> Content:
    """Return all keys by place, and all commands."""
    width = max(len(_written(key.keys)) for key in keys.table)
    lines: list[Content] = []
    for where in dict.fromkeys(key.where for key in keys.table):
        lines.append(Content(where).stylize("bold"))
        lines += [
            Content(f"  {_written(key.keys):{width}}  ").stylize("$accent") + Content(key.words)
            for key in keys.table
            if key.where == where
        ]
        lines.append(Content(""))
    return Content("\n").join([*lines, Content("commands").stylize("bold"), overview()])


def _written(keys: str) -> str:
    several = keys.replace("slash", "/").split(",")
    return ", ".join(several) if len(several) <= _SEVERAL else f"{several[0]}…{several[-1]}"
