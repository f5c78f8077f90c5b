"""`/spawn` as a person types it: options, then `@agent`, then the task."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from teambot_tui.engine.text import one_line
from teambot_tui.language.names import ALIASES, did_you_mean

EXAMPLE: Final = "/spawn --after research --include-result --label design @builder-1 Design the UI"
_OPTION: Final = re.compile(r"\s*+--(?P<name>[\w-]*+)(?:=(?P<value>\"[^\"\n]*+\"|\S++))?(?=\s|\Z)")
_VALUE: Final = re.compile(r"\s*+(?P<value>\"[^\"\n]*+\"|(?!--)\S++)(?=\s|\Z)")
_AGENT: Final = re.compile(r"\s*+@(?P<agent>\S++)")
_FLAGS: Final = ("include-result",)
_VALUED: Final = ("after", "label", "model", "retries", "timeout", "on-failure")
_ON_FAILURE: Final = ("skip", "refuse", "proceed")


class SpawnCommandError(Exception):
    """A `/spawn` that says something that cannot be understood, and what to type."""


@dataclass(frozen=True, slots=True)
class SpawnCommand:
    """What a person wants started; see `Session.spawn`."""

    task: str = ""
    agent: str | None = None
    after: tuple[str, ...] = ()
    include_result: bool = False
    label: str | None = None
    model: str | None = None
    retries: int = 0
    timeout: float | None = None
    on_failure: str = "skip"


def parse_spawn(text: str) -> SpawnCommand:
    """Return what the words behind `/spawn` ask for.

    Raises:
        SpawnCommandError: They cannot be understood.
    """
    command = SpawnCommand()
    seen: set[str] = set()
    position = 0
    while option := _OPTION.match(text, position):
        name, value, position = option["name"], option["value"], option.end()
        if name in seen and name != "after":
            _fail(f"--{name} is given twice.")
        seen.add(name)
        if name in _FLAGS:
            if value is not None:
                _fail(f"--{name} takes no value.")
            command = replace(command, include_result=True)
            continue
        if name not in _VALUED:
            near = did_you_mean(name, (*_FLAGS, *_VALUED))
            known = ", ".join(f"--{each}" for each in (*_VALUED, *_FLAGS))
            _fail(
                f"Unknown option: --{one_line(name, 40)}."
                + (f" Did you mean --{near}?" if near else f" There are {known}.")
            )
        if value is None:
            following = _VALUE.match(text, position)
            if following is None:
                _fail(f"--{name} needs a value.")
            value, position = following["value"], following.end()
        command = _with(command, name, value.strip('"'))
    if agent := _AGENT.match(text, position):
        command, position = replace(command, agent=_id(agent["agent"])), agent.end()
    task = text[position:].strip()
    if not task:
        _fail("Say what is to be done.")
    if command.include_result and not command.after:
        _fail("--include-result needs --after: whose result?")
    return replace(command, task=task)


def _with(command: SpawnCommand, name: str, value: str) -> SpawnCommand:
    if not value.strip():
        _fail(f"--{name} needs a value.")
    match name:
        case "after":
            return replace(command, after=(*command.after, _id(value.removeprefix("@"))))
        case "label":
            return replace(command, label=one_line(value, 64))
        case "model":
            return replace(command, model=one_line(value, 200))
        case "retries":
            if not (value.isascii() and value.isdigit() and len(value) < 4):
                _fail(f"--retries must be a number such as 2, not {one_line(value, 40)}.")
            return replace(command, retries=int(value))
        case "timeout":
            return replace(command, timeout=_seconds(value))
        case _:
            if value not in _ON_FAILURE:
                _fail(f"--on-failure must be {', '.join(_ON_FAILURE)}, not {one_line(value, 40)}.")
            return replace(command, on_failure=value)


def _id(name: str) -> str:
    """Return the agent's id where an alias is written."""
    return ALIASES.get(name, name)


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        _fail(f"--timeout must be a number of seconds above 0, not {one_line(value, 40)}.")
    return seconds


def _fail(message: str) -> NoReturn:
    raise SpawnCommandError(f"{message} Try: {EXAMPLE}")
