"""The settings a session runs by: the user's file, then the project's if it is trusted, then the environment.

Tables are merged key by key. Only a backend is replaced as a whole: halves of two make none. What agents
may do unasked is the user's alone to say, so a project's file is not heard on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from teambot_tui.agents.catalogue import TYPES, UNCONFIGURED
from teambot_tui.agents.checks import unknown
from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.places import PROJECT_FILE, config_directory, user_path
from teambot_tui.agents.presets import PRESETS, SERVERS
from teambot_tui.agents.settings_file import POLICY, SettingsFile, parse_settings
from teambot_tui.engine.files import UnreadableError, read_whole
from teambot_tui.engine.policy import Policy
from teambot_tui.engine.ports import Permissions
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from teambot_tui.agents.presets import Server

_REFERENCES_VARIABLE = "TEAMBOT_ENABLE_AGENT_REFS"
_OFF = ("0", "false", "no", "off")
_ON = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """A backend by name: its type, and options that fit the type."""

    name: str
    type: str
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What the settings say about one agent; None leaves it to the persona and the defaults."""

    backend: str | None = None
    model: str | None = None
    persona: str | None = None
    permissions: Permissions | None = None


def _known_agent(name: str) -> BackendSettings | None:
    if preset := PRESETS.get(name):
        return BackendSettings(name, preset.type, preset.backend_options())
    if server := _servers().get(name):
        return BackendSettings(name, "openai", {"base_url": server.address})
    return None


def _servers() -> Mapping[str, Server]:
    return SERVERS if "openai" in TYPES else {}


def _unconfigured() -> Mapping[str, BackendSettings]:
    return {name: BackendSettings(name, name) for name in UNCONFIGURED}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, with the defaults filled in.

    `sources` tells which file set a dotted key; `notes` are lines for the user about what was not taken.
    """

    policy: Policy = field(default_factory=Policy)
    default_agent: str | None = "pm"
    backend: str = "rehearsal"
    backends: Mapping[str, BackendSettings] = field(default_factory=_unconfigured)
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notify: tuple[str, ...] = ("toast",)
    theme: str = "auto"
    """The colours of the screen, by name, or `auto` for those that fit the terminal."""
    capture_limit: int = 100 * 1024
    """How many bytes of an output are kept on disk."""
    keep_outputs: str = "30d"
    """How long they are: an age, or `session` or `none`."""
    sources: Mapping[str, Path] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    permissions: Permissions = Permissions.ASK

    @property
    def chosen_backends(self) -> frozenset[str]:
        """The backends that the settings describe or name; a preset is one only where they name it."""
        named = (agent.backend for agent in self.agents.values() if agent.backend)
        return frozenset((self.backend, *self.backends, *named))

    @property
    def says_what_to_run_on(self) -> bool:
        """Whether any file names a backend."""
        return any(key == "backend" or key.endswith(".backend") for key in self.sources)

    def find_backend(self, name: str) -> BackendSettings | None:
        """Return the backend of that name: from the settings, or one of the agents that are known."""
        return self.backends.get(name) or _known_agent(name)

    def unknown_backend(self, name: str) -> str:
        """Say that there is no such backend, and which there are."""
        return unknown("backend", name, dict.fromkeys((*self.backends, *PRESETS, *_servers())))

    def error(self, key: str, message: str) -> SettingsError:
        """Return an error about a key, with the file that set it."""
        return SettingsError(self.sources.get(key), key, message)


def load_settings(directory: Path, environ: Mapping[str, str], of_project: bytes | None = None) -> Settings:
    """Read the settings for work in a directory; `of_project` is what its own file says, if that is trusted.

    Raises:
        SettingsError: Something in them cannot be used.
    """
    user = _user_file(directory, environ)
    project: SettingsFile | None = None
    notes: tuple[str, ...] = ()
    if of_project is not None:
        project, notes = _project_file(directory / PROJECT_FILE, of_project, environ, user)
    settings = _merge([file for file in (user, project) if file])
    _check_backends(settings)
    references = _references(environ)
    if references is not None:
        settings = replace(settings, policy=replace(settings.policy, references=references))
    return replace(settings, notes=notes)


def _user_file(directory: Path, environ: Mapping[str, str]) -> SettingsFile | None:
    path = user_path(directory, environ)
    if path is None:
        return None
    try:
        return parse_settings(path, _content(path))
    except FileNotFoundError as error:
        if environ.get("TEAMBOT_CONFIG"):
            raise SettingsError(path, "", "does not exist, but TEAMBOT_CONFIG names it") from error
        return None


def _project_file(
    path: Path, content: bytes, environ: Mapping[str, str], user: SettingsFile | None
) -> tuple[SettingsFile, tuple[str, ...]]:
    """Check what a project may not say: some of it is refused, some passed over with a note."""
    file = parse_settings(path, content)
    for key in file.personal():
        own = one_line(str(user.path if user else config_directory(environ) / "config.toml"))
        raise SettingsError(path, key, f"belongs to you, not to a project: put it into {own}")
    ignored = [key for key in file.keys() if key.rpartition(".")[2] == "permissions"]  # noqa: SIM118
    notes = tuple(
        f"{PROJECT_FILE}: {key} is ignored: what agents may do unasked is taken from your own settings only"
        for key in ignored
    )
    return file.without_permissions(), notes


def _content(path: Path) -> bytes:
    try:
        return read_whole(path)
    except UnreadableError as error:
        raise SettingsError(path, "", str(error)) from error


def _merge(files: Iterable[SettingsFile]) -> Settings:
    """Put the files together, later ones over earlier ones."""
    values: dict[str, Any] = {}
    backends = dict(_unconfigured())
    agents: dict[str, AgentSettings] = {}
    keys: dict[str, tuple[str, ...]] = {}
    sources: dict[str, Path] = {}
    for file in files:
        values |= file.values
        sources |= dict.fromkeys(file.keys(), file.path)
        for name, options in file.backends.items():
            rest = {key: value for key, value in options.items() if key != "type"}
            backends[name] = BackendSettings(name, options["type"], MappingProxyType(rest))
        for name, chosen in file.agents.items():
            agents[name] = replace(agents.get(name, AgentSettings()), **chosen)
        keys |= file.own_keys
    defaults = Settings()
    return Settings(
        policy=Policy(**{key: value for key, value in values.items() if key in POLICY}),
        default_agent=values.get("default_agent", defaults.default_agent) or None,
        backend=values.get("backend", defaults.backend),
        backends=MappingProxyType(backends),
        agents=MappingProxyType(agents),
        keys=MappingProxyType(keys),
        notify=values.get("notify", defaults.notify),
        theme=values.get("theme", defaults.theme),
        capture_limit=values.get("capture_limit", defaults.capture_limit),
        keep_outputs=values.get("keep_outputs", defaults.keep_outputs),
        sources=MappingProxyType(sources),
        permissions=values.get("permissions", defaults.permissions),
    )


def _check_backends(settings: Settings) -> None:
    """Refuse a backend that no table describes."""
    named = {"backend": settings.backend}
    named |= {
        f"agents.{name}.backend": agent.backend for name, agent in settings.agents.items() if agent.backend
    }
    for key, backend in named.items():
        if settings.find_backend(backend) is None:
            raise settings.error(key, settings.unknown_backend(backend))


def _references(environ: Mapping[str, str]) -> bool | None:
    value = environ.get(_REFERENCES_VARIABLE, "").strip().lower()
    if value and value not in _OFF + _ON:
        raise SettingsError(None, _REFERENCES_VARIABLE, "must be 0 to turn references off, or 1")
    return value in _ON if value else None
