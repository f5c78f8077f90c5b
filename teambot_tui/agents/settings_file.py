"""One settings file: TOML in, checked values out, or an error with the key and what is allowed.

Only the shape is decided here. Whether a backend exists is known when all files are put together.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from teambot_tui.agents import checks
from teambot_tui.agents.catalogue import TYPES
from teambot_tui.agents.checks import Check, TableShape
from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.places import user_path
from teambot_tui.engine.files import UnreadableError, decode, read_whole, write_whole
from teambot_tui.engine.policy import OnFailure, OnWaitTimeout
from teambot_tui.engine.ports import Permissions
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

T = TypeVar("T")
POLICY: Mapping[str, Check[Any]] = {
    "wait_timeout": checks.number(at_most=10_000_000),
    "on_wait_timeout": checks.one_of(OnWaitTimeout),
    "max_parallel": checks.integer(1, 1000),
    "max_references": checks.integer(1, 1000),
    "inject_limit": checks.integer(0, 1024**3),
    "output_limit": checks.integer(1, 1024**3),
    "on_dependency_failure": checks.one_of(OnFailure),
    "references": checks.boolean,
    "budget": checks.number(at_most=1_000_000),
    "token_budget": checks.integer(1, 10**15),
    "spawn_depth": checks.integer(0, 10),
    "spawn_children": checks.integer(1, 1000),
    "spawn_runs": checks.integer(0, 100_000),
    "spawn_parallel": checks.integer(1, 1000),
    "idle_agents": checks.integer(0, 1000),
}
_PERMISSIONS = checks.one_of(Permissions)
_DOCUMENT = TableShape(
    {
        "default_agent": checks.agent_id_or_nothing,
        "backend": checks.backend_name,
        **POLICY,
        "permissions": _PERMISSIONS,
        "capture_limit": checks.integer(1024, 1024**3),
        "keep_outputs": checks.kept_for,
        "backends": checks.table,
        "agents": checks.table,
        "keys": checks.table,
        "notify": checks.some_of(("toast", "bell", "osc9")),
        "theme": checks.text,
    }
)
_AGENT = TableShape(
    {
        "backend": checks.backend_name,
        "model": checks.text,
        "persona": checks.agent_id,
        "permissions": _PERMISSIONS,
    }
)
_TYPE = checks.one_of(TYPES)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The checked values of one file."""

    path: Path
    values: Mapping[str, Any]
    backends: Mapping[str, Mapping[str, Any]]
    agents: Mapping[str, Mapping[str, Any]]
    own_keys: Mapping[str, tuple[str, ...]]

    def keys(self) -> Iterator[str]:
        """Yield the dotted keys that this file sets."""
        yield from self.values
        for name, agent in self.agents.items():
            yield from (f"agents.{name}.{key}" for key in agent)
        yield from (f"keys.{name}" for name in self.own_keys)

    def personal(self) -> Iterator[str]:
        """Yield the keys that only a person's own file may set, as far as this one sets them."""
        yield from ("keys",) if self.own_keys else ()
        yield from (key for key in ("notify", "keep_outputs", "theme") if key in self.values)

    def without_permissions(self) -> SettingsFile:
        """Return the same file as if it gave no agent any permissions."""
        return replace(
            self,
            values=_without_permissions(self.values),
            agents={name: _without_permissions(agent) for name, agent in self.agents.items()},
        )


def _without_permissions(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "permissions"}


def parse_settings(path: Path, content: bytes) -> SettingsFile:
    """Return what the content of a settings file says.

    Raises:
        SettingsError: It is not TOML, or a key or a value is not allowed.
    """
    values = _table(path, "", _toml(path, content), _DOCUMENT)
    backends = values.pop("backends", {})
    agents = values.pop("agents", {})
    own_keys = values.pop("keys", {})
    for name in backends:
        _check(path, f"backends.{name}", name, checks.backend_name)
    for name in agents:
        _check(path, f"agents.{name}", name, checks.agent_id)
    return SettingsFile(
        path,
        values,
        {name: _backend(path, f"backends.{name}", options) for name, options in backends.items()},
        {name: _table(path, f"agents.{name}", options, _AGENT) for name, options in agents.items()},
        {name: _check(path, f"keys.{name}", value, checks.keys) for name, value in own_keys.items()},
    )


def _toml(path: Path, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(decode(content))
    except UnreadableError as error:
        raise SettingsError(path, "", str(error)) from error
    except ValueError as error:  # also a number of thousands of digits, which is not a TOMLDecodeError
        raise SettingsError(path, "", f"is not valid TOML: {one_line(str(error))}") from error
    except RecursionError as error:
        raise SettingsError(path, "", "is not valid TOML: it is nested too deeply") from error


def _backend(path: Path, key: str, options: object) -> dict[str, Any]:
    """Check the options of a backend against the table of its type."""
    given = _check(path, key, options, checks.table)
    table = TYPES[_required(path, f"{key}.type", given.get("type"), _TYPE)].options
    return _table(path, key, given, TableShape({"type": _TYPE, **table.keys}, table.required))


def _table(path: Path, key: str, values: object, table: TableShape) -> dict[str, Any]:
    prefix = f"{key}." if key else ""
    given = _check(path, key, values, checks.table)
    for name in given:
        if name not in table.keys:
            raise SettingsError(path, prefix + name, checks.unknown("key", name, table.keys))
    for name in table.required:
        _required(path, prefix + name, given.get(name), table.keys[name])
    return {name: _check(path, prefix + name, value, table.keys[name]) for name, value in given.items()}


def _required(path: Path, key: str, value: object, check: Check[T]) -> T:
    if value is None:
        raise SettingsError(path, key, f"is missing; it must be {check.allowed}")
    return _check(path, key, value, check)


def _check(path: Path, key: str, value: object, check: Check[T]) -> T:
    try:
        return check(value)
    except ValueError as error:
        raise SettingsError(path, key, str(error)) from error


def remember_backend(backend: str, directory: Path, environ: Mapping[str, str]) -> Path | None:
    """Let the user's settings name this backend; return their file, or None if there is to be none.

    Raises:
        SettingsError: They name another already, or cannot be read, understood or written.
    """
    return _remember("backend", backend, directory, environ)


def remember_theme(theme: str, directory: Path, environ: Mapping[str, str]) -> Path | None:
    """Let the user's settings name this theme, whatever they named; return their file, or None as above.

    Raises:
        SettingsError: They cannot be read, understood or written.
    """
    return _remember("theme", theme, directory, environ, line=_THEME_LINE)


_THEME_LINE = re.compile(r"^theme[ \t]*=.*\n?", re.MULTILINE)


def _remember(
    key: str,
    value: str,
    directory: Path,
    environ: Mapping[str, str],
    line: re.Pattern[str] | None = None,
) -> Path | None:
    """Write a value into the user's settings, in place of the line that is given, if it is there."""
    path = user_path(directory, environ)
    if path is None:
        return None
    try:
        before = decode(read_whole(path))
    except FileNotFoundError:
        before = ""
    except UnreadableError as error:
        raise SettingsError(path, "", str(error)) from error
    try:
        said = tomllib.loads(before)
        if key in said and line is None:
            raise SettingsError(path, key, "is set already")
        rest = line.sub("", before, count=1) if line is not None and key in said else before
        # At the top: after the first table, a line would belong to that table.
        after = f'{key} = "{value}"\n{rest}'
        understood = tomllib.loads(after) == {**said, key: value}
    except (ValueError, RecursionError) as error:
        raise SettingsError(path, "", "is not valid TOML") from error
    if not understood:
        raise SettingsError(path, key, "cannot be set to this name")
    try:
        write_whole(path, after.encode())
    except OSError as error:
        raise SettingsError(path, "", f"cannot be written: {error.strerror}") from error
    return path
