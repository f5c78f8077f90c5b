"""Which types of backend there are: the options each understands and how it is built.

A type is added here and nowhere else. Its module is imported when the first backend of it is built, so that
what nobody uses costs nothing and need not be installed.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teambot_tui.agents.checks import (
    TableShape,
    address,
    arguments,
    boolean,
    file,
    integer,
    more_arguments,
    number,
    one_of,
    text,
    texts_by_variable,
    variable_name,
    variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from teambot_tui.engine.ports import Backend

_A_DAY = 24 * 60 * 60
_SMALLEST_CONTEXT = 512
_LARGEST_CONTEXT = 10_000_000
_STREAMS = ("text", "claude-json", "codex-json", "gemini-json", "copilot-json", "opencode-json")


@dataclass(frozen=True, slots=True)
class BackendType:
    """A type of backend: its table of options, and the constructor for options that fit the table."""

    options: TableShape
    build: Callable[[Mapping[str, Any]], Backend]
    honours: Callable[[Mapping[str, Any]], Collection[str]] = lambda _: ()
    """Which keys of a persona, of those that not every agent can be told, one with these options can."""


def build(type_name: str, options: Mapping[str, object]) -> Backend:
    """Make a backend from options that were checked against the table of its type."""
    return TYPES[type_name].build(options)


def _acp(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.acp import Acp, AcpOptions

    return Acp(AcpOptions(**options))


def _echo(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.echo import Echo

    return Echo(**options)


def _command(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.command import CommandBackend

    return CommandBackend(**options)


def _local(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.local import Local

    return Local(**options)


def _openai(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.openai import OpenAI

    return OpenAI(**options)


def _rehearsal(options: Mapping[str, Any]) -> Backend:
    from teambot_tui.agents.backends.rehearsal import Rehearsal

    return Rehearsal(**options)


TYPES: Mapping[str, BackendType] = {
    "acp": BackendType(
        TableShape(
            {
                "command": arguments,
                "env": variables,
                "mode": text,
                "read_only_mode": text,
                "silence_timeout": number(at_most=_A_DAY),
                "start_timeout": number(at_most=_A_DAY),
                "files": boolean,
                "terminal": boolean,
                "fresh": boolean,
                "login": text,
                "agents_md": boolean,
                "claude_options": boolean,
            },
            required=("command",),
        ),
        _acp,
        lambda options: ("tools", "maxTurns") if options.get("claude_options") else (),
    ),
    "command": BackendType(
        TableShape(
            {
                "command": arguments,
                "env": variables,
                "silence_timeout": number(at_most=_A_DAY),
                "stream": one_of(_STREAMS),
                "model_arguments": more_arguments,
                "system_arguments": more_arguments,
                "system_in_prompt": boolean,
                "tool_arguments": more_arguments,
                "tool_env": texts_by_variable,
                "read_only_arguments": more_arguments,
                "agents_md": boolean,
                "allowed_tools_arguments": more_arguments,
                "max_turns_arguments": more_arguments,
            },
            required=("command",),
        ),
        _command,
        lambda options: [
            key
            for key, option in (("tools", "allowed_tools_arguments"), ("maxTurns", "max_turns_arguments"))
            if options.get(option)
        ],
    ),
    "echo": BackendType(TableShape({}), _echo),
    "local": BackendType(
        TableShape(
            {
                "model_path": file,
                "context_limit": integer(_SMALLEST_CONTEXT, _LARGEST_CONTEXT),
                "silence_timeout": number(at_most=_A_DAY),
            }
        ),
        _local,
    ),
    "openai": BackendType(
        TableShape(
            {
                "base_url": address,
                "model": text,
                "api_key_env": variable_name,
                "api_key_command": arguments,
                "context_limit": integer(_SMALLEST_CONTEXT, _LARGEST_CONTEXT),
                "silence_timeout": number(at_most=_A_DAY),
                "connect_timeout": number(at_most=_A_DAY),
                "retries": integer(0, 10),
                "agents_md": boolean,
            },
            required=("base_url",),
        ),
        _openai,
    ),
    "rehearsal": BackendType(
        TableShape({"seed": integer(), "words_per_second": number(at_most=1_000_000, zero=True)}), _rehearsal
    ),
}

UNCONFIGURED = ("echo", "local", "rehearsal")
"""Types that need no options: a backend of the same name is always there."""
