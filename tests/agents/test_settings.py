"""Settings: what the files say together, and errors that name the file, the key and what is allowed."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import hypothesis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from teambot_tui.agents.catalogue import TYPES
from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.project import sort_out
from teambot_tui.agents.settings import AgentSettings, BackendSettings, Settings, load_settings
from teambot_tui.agents.team_files import read_team_files
from teambot_tui.agents.trust import trust
from teambot_tui.engine.policy import OnFailure, OnWaitTimeout, Policy
from teambot_tui.engine.ports import Permissions

KNOWN_TYPES = ", ".join(TYPES)


class Place:
    """A home and a project of their own, with the environment that leads there."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.user_file = self.home / ".config" / "teambot" / "config.toml"
        self.project_file = self.project / "teambot.toml"
        self.environ = {"HOME": str(self.home)}
        self.user_file.parent.mkdir(parents=True)
        self.project.mkdir()

    def user(self, content: str | bytes) -> None:
        self.user_file.write_bytes(content.encode() if isinstance(content, str) else content)

    def trusted(self, content: str | bytes) -> None:
        self.project_file.write_bytes(content.encode() if isinstance(content, str) else content)
        trust(read_team_files(self.project, self.environ), self.environ)

    def load(self, **environ: str) -> Settings:
        files, _, _ = sort_out(self.project, self.environ | environ)
        return load_settings(
            self.project, self.environ | environ, files.content.get(Path(self.project_file.name))
        )

    def error(self, **environ: str) -> SettingsError:
        with pytest.raises(SettingsError) as caught:
            self.load(**environ)
        assert "\n" not in str(caught.value)
        assert str(caught.value).isprintable()
        return caught.value


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_there_are_defaults(place: Place) -> None:
    settings = place.load()
    assert settings == Settings()
    assert settings.policy == Policy()
    assert settings.default_agent == "pm"
    assert settings.backend == "rehearsal"
    assert settings.backends == {
        "echo": BackendSettings("echo", "echo"),
        "local": BackendSettings("local", "local"),
        "rehearsal": BackendSettings("rehearsal", "rehearsal"),
    }
    assert settings.agents == {}


def test_everything_can_be_set(place: Place) -> None:
    place.user("""
        default_agent = "ba"
        backend = "mine"
        wait_timeout = 1.5
        on_wait_timeout = "fail"
        max_parallel = 2
        max_references = 3
        inject_limit = 0
        output_limit = 5
        on_dependency_failure = "proceed"
        references = false

        [backends.mine]
        type = "command"
        command = ["program", "", "two\\nlines", "\u00fc"]
        env = {API_KEY = true, _x1 = "a value"}
        silence_timeout = 60

        [backends.calm]
        type = "rehearsal"
        seed = -7
        words_per_second = 0

        [agents.zeta]
        persona = "explore"

        [agents.pm]
        backend = "calm"
        model = "opus"
    """)
    settings = place.load()
    assert settings.policy == Policy(1.5, OnWaitTimeout.FAIL, 2, 3, 0, 5, OnFailure.PROCEED, references=False)
    assert isinstance(settings.policy.on_dependency_failure, OnFailure)
    assert settings.default_agent == "ba"
    assert settings.backend == "mine"
    assert settings.backends["mine"] == BackendSettings(
        "mine",
        "command",
        {
            "command": ("program", "", "two\nlines", "\u00fc"),
            "env": {"API_KEY": None, "_x1": "a value"},
            "silence_timeout": 60.0,
        },
    )
    assert settings.backends["calm"].options == {"seed": -7, "words_per_second": 0.0}
    assert list(settings.agents.items()) == [
        ("zeta", AgentSettings(persona="explore")),
        ("pm", AgentSettings(backend="calm", model="opus")),
    ]


def test_the_projects_file_goes_over_the_users_key_by_key(place: Place) -> None:
    place.user("""
        wait_timeout = 10
        max_parallel = 1
        default_agent = "ba"
        [agents.pm]
        model = "opus"
        backend = "both"
        [backends.both]
        type = "rehearsal"
        seed = 1
        words_per_second = 5
    """)
    place.trusted("""
        max_parallel = 2
        default_agent = ""
        [agents.pm]
        persona = "plan"
        model = "haiku"
        [agents.ba]
        [backends.both]
        type = "rehearsal"
        words_per_second = 9
    """)
    settings = place.load()
    assert (settings.policy.wait_timeout, settings.policy.max_parallel) == (10, 2)
    assert settings.default_agent is None
    assert settings.agents == {"pm": AgentSettings("both", "haiku", "plan"), "ba": AgentSettings()}
    assert settings.backends["both"].options == {"words_per_second": 9.0}
    assert settings.sources == {
        "wait_timeout": place.user_file,
        "max_parallel": place.project_file,
        "default_agent": place.project_file,
        "agents.pm.backend": place.user_file,
        "agents.pm.model": place.project_file,
        "agents.pm.persona": place.project_file,
    }


def test_an_agent_of_one_file_may_use_a_backend_of_the_other(place: Place) -> None:
    place.user('[backends.local]\ntype = "echo"\n[agents.pm]\nbackend = "shared"\n')
    place.trusted('backend = "local"\n[backends.shared]\ntype = "echo"\n')
    assert place.load().agents["pm"].backend == "shared"


def test_permissions_are_the_users_to_give(place: Place) -> None:
    place.user('permissions = "deny"\n[agents.pm]\npermissions = "allow-reads"\n')
    place.trusted(
        'permissions = "allow"\nmax_parallel = 2\n'
        '[agents.pm]\npermissions = "allow"\nmodel = "opus"\n[agents.ba]\npermissions = "allow"\n'
    )
    settings = place.load()
    assert settings.permissions is Permissions.DENY
    assert settings.agents["pm"] == AgentSettings(model="opus", permissions=Permissions.ALLOW_READS)
    assert settings.agents["ba"].permissions is None
    assert settings.policy.max_parallel == 2
    ours = "is ignored: what agents may do unasked is taken from your own settings only"
    assert settings.notes == tuple(
        f"teambot.toml: {key} {ours}"
        for key in ("permissions", "agents.pm.permissions", "agents.ba.permissions")
    )
    assert place.load(TEAMBOT_CONFIG="teambot.toml").permissions is Permissions.ALLOW


@pytest.mark.parametrize("value", ["30d", "12h", "2w", "90m", "session", "none"])
def test_how_long_outputs_are_kept_can_be_set_by_the_user(place: Place, value: str) -> None:
    assert place.load().keep_outputs == "30d"
    place.user(f'keep_outputs = "{value}"')
    assert place.load().keep_outputs == value
    place.trusted(f'keep_outputs = "{value}"')
    assert place.error().key == "keep_outputs"


@pytest.mark.parametrize("value", ['"forever"', '"0d"', '"-1d"', '""', "30", "true", '["30d"]'])
def test_an_age_that_is_none(place: Place, value: str) -> None:
    place.user(f"keep_outputs = {value}")
    error = place.error()
    assert error.key == "keep_outputs"
    assert 'must be an age such as "30d", "12h" or "2w", or "session", or "none", not ' in str(error)


def test_a_budget_can_be_set(place: Place) -> None:
    place.user("budget = 2.5\ntoken_budget = 1000\n")
    assert (place.load().policy.budget, place.load().policy.token_budget) == (2.5, 1000)


def test_the_limits_of_spawning_can_be_set(place: Place) -> None:
    place.user("spawn_depth = 0\nspawn_children = 3\nspawn_runs = 20\nspawn_parallel = 1\nidle_agents = 0\n")
    limits = Policy(spawn_depth=0, spawn_children=3, spawn_runs=20, spawn_parallel=1, idle_agents=0)
    assert place.load().policy == limits


def test_a_built_in_backend_can_be_configured(place: Place) -> None:
    place.user('[backends.rehearsal]\ntype = "rehearsal"\nseed = 3\n')
    assert place.load().backends["rehearsal"].options == {"seed": 3}


def test_what_will_be_shown_is_cleaned(place: Place) -> None:
    place.user('[agents.pm]\nmodel = " o\\u001b[31mp\\u202eus\\n4 "\n')
    assert place.load().agents["pm"].model == "opus 4"


ALLOWED_TOP = (
    "default_agent, backend, wait_timeout, on_wait_timeout, max_parallel, max_references, inject_limit"
)
OPENAI = '[backends.x]\ntype = "openai"\nbase_url = "http://[::1]:8080/v1"\n'
COMMAND = '[backends.x]\ntype = "command"\ncommand = ["a"]\n'


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        ("wait_timout = 1", "wait_timout", "Did you mean wait_timeout?"),
        ("zzz = 1", "zzz", f"unknown key zzz. Known: {ALLOWED_TOP}"),
        ('"a\\u001b[31mb\\n" = 1', "a\x1b[31mb\n", "unknown key ab"),
        ('on_wait_timeout = "die"', "on_wait_timeout", "must be one of tell, fail"),
        ("wait_timeout = 0", "wait_timeout", "must be a number above 0 and up to 10000000, not 0"),
        ("wait_timeout = -1.5", "wait_timeout", "not -1.5"),
        ("wait_timeout = nan", "wait_timeout", "not nan"),
        ("wait_timeout = inf", "wait_timeout", "not inf"),
        ("wait_timeout = true", "wait_timeout", "not true"),
        ('wait_timeout = "5"', "wait_timeout", "not this text"),
        ("wait_timeout = 2000-01-01", "wait_timeout", "not a date or a time"),
        ("wait_timeout = 12:00:00", "wait_timeout", "not a date or a time"),
        (f"wait_timeout = 0x{'f' * 9000}", "wait_timeout", "not a very large number"),
        ("max_parallel = 0", "max_parallel", "must be an integer from 1 to 1000, not 0"),
        ("max_parallel = true", "max_parallel", "not true"),
        ("max_parallel = 2.0", "max_parallel", "not 2.0"),
        (f"max_parallel = 0x{'f' * 9000}", "max_parallel", "not a very large number"),
        ("max_references = 0", "max_references", "from 1"),
        ("budget = 0", "budget", "must be a number above 0"),
        (
            f"{COMMAND}tool_env = {{A = 1}}",
            "backends.x.tool_env",
            "must be a table of environment variables and their values",
        ),
        (f"{COMMAND}tool_env = ['A']", "backends.x.tool_env", "must be a table of environment variables"),
        ("spawn_depth = -1", "spawn_depth", "must be an integer from 0 to 10, not -1"),
        ("spawn_children = 0", "spawn_children", "must be an integer from 1 to 1000, not 0"),
        ("spawn_runs = 1.5", "spawn_runs", "must be an integer from 0 to 100000, not 1.5"),
        ("spawn_parallel = 0", "spawn_parallel", "must be an integer from 1 to 1000, not 0"),
        ("idle_agents = -1", "idle_agents", "must be an integer from 0 to 1000, not -1"),
        ("token_budget = 1.5", "token_budget", "must be an integer from 1"),
        ('permissions = "yes"', "permissions", "must be one of ask, allow-reads, allow, deny, not yes"),
        ("[agents.pm]\npermissions = true", "agents.pm.permissions", "must be one of ask"),
        ("inject_limit = -1", "inject_limit", "must be an integer from 0"),
        ("output_limit = 0", "output_limit", "must be an integer from 1"),
        ('on_dependency_failure = "stop"', "on_dependency_failure", "must be one of skip, proceed, not stop"),
        ("on_dependency_failure = []", "on_dependency_failure", "not an empty list"),
        ("references = 1", "references", "must be true or false, not 1"),
        ('references = "no"', "references", "must be true or false"),
        ('default_agent = "PM"', "default_agent", 'or "" for none, not PM'),
        ('default_agent = "all"', "default_agent", "means the whole team"),
        ('default_agent = "me"', "default_agent", "me means the person at the keyboard: rename it"),
        ("default_agent = 1", "default_agent", "must be an agent id"),
        (
            'backend = "ehco"',
            "backend",
            "unknown backend ehco. Did you mean echo? Known: echo, local, rehearsal",
        ),
        ('backend = ""', "backend", "must be the name of a backend"),
        ("backends = 1", "backends", "must be a table, not 1"),
        ("[[backends]]", "backends", "must be a table, not this list"),
        ("agents = []", "agents", "must be a table"),
        ("backends.x = 1", "backends.x", "must be a table, not 1"),
        ("[backends.x]", "backends.x.type", f"is missing; it must be one of {KNOWN_TYPES}"),
        ("[backends.x]\ntype = 1", "backends.x.type", "must be one of"),
        (
            '[backends.x]\ntype = "ehco"',
            "backends.x.type",
            f"must be one of {KNOWN_TYPES}, not ehco",
        ),
        ('[backends.x]\ntype = "echo"\nseed = 1', "backends.x.seed", "unknown key seed. Known: type"),
        ('[backends.x]\ntype = "command"', "backends.x.command", "is missing; it must be a program"),
        ('[backends."a b"]\ntype = "echo"', "backends.a b", "letters, digits, hyphens and underscores"),
        ('[backends."a.b"]\ntype = "echo"', "backends.a.b", "must be the name of a backend"),
        ('[backends.x]\ntype = "command"\ncommand = []', "backends.x.command", "not an empty list"),
        ('[backends.x]\ntype = "command"\ncommand = [""]', "backends.x.command", "a program"),
        ('[backends.x]\ntype = "command"\ncommand = "a b"', "backends.x.command", "a program"),
        ('[backends.x]\ntype = "command"\ncommand = ["a", 1]', "backends.x.command", "a program"),
        (
            '[backends.x]\ntype = "command"\ncommand = ["a\\u0000"]',
            "backends.x.command",
            "control characters",
        ),
        (COMMAND + 'env = ["KEY=secret"]', "backends.x.env", "a text sets another value"),
        (COMMAND + "env = {KEY = 1}", "backends.x.env", "a text sets another value"),
        (COMMAND + "env = {KEY = false}", "backends.x.env", "a text sets another value"),
        (COMMAND + 'env = {KEY = "a\\u0000b"}', "backends.x.env", "a text sets another value"),
        (COMMAND + 'env = {"KEY=1" = true}', "backends.x.env", "a text sets another value"),
        (COMMAND + "silence_timeout = 0", "backends.x.silence_timeout", "above 0"),
        (COMMAND + 'comand = "a"', "backends.x.comand", "Did you mean command?"),
        ('[backends.x]\ntype = "rehearsal"\nseed = true', "backends.x.seed", "must be an integer"),
        ('[backends.x]\ntype = "rehearsal"\nwords_per_second = -1', "backends.x.words_per_second", "from 0"),
        ('[backends.x]\ntype = "openai"', "backends.x.base_url", "is missing; it must be the address"),
        *(
            (f'[backends.x]\ntype = "openai"\nbase_url = "{wrong}"', "backends.x.base_url", "such as http://")
            for wrong in (
                "127.0.0.1:8080",
                "ftp://host/v1",
                "http://",
                "http:///v1",
                "http://user:password@host/v1",
                "http://host:99999/v1",
                "http://host:0/v1",
                "http://[::1/v1",
                "http://host/v1?key=x",
                "http://host/v1#x",
                "http://host/\\u001b",
                "http://host /v1",
                " http://host/v1",
            )
        ),
        (OPENAI + 'api_key_env = "sk-abc.def"', "backends.x.api_key_env", "not its value"),
        (OPENAI + 'api_key_command = "pass show key"', "backends.x.api_key_command", "a program"),
        (OPENAI + 'api_key = "sk-abc"', "backends.x.api_key", "Did you mean api_key_env?"),
        (OPENAI + "context_limit = 100", "backends.x.context_limit", "an integer from 512"),
        (OPENAI + "retries = 11", "backends.x.retries", "an integer from 0 to 10"),
        (OPENAI + "connect_timeout = 0", "backends.x.connect_timeout", "above 0"),
        ('[backends.x]\ntype = "local"\nmodel_path = ""', "backends.x.model_path", "the path of a file"),
        ("agents.pm = 1", "agents.pm", "must be a table"),
        ("[agents.PM]", "agents.PM", "must be an agent id"),
        ("[agents.all]", "agents.all", "means the whole team"),
        ('[agents."../pm"]', "agents.../pm", "must be an agent id"),
        (
            '[agents.pm]\nmodle = "x"',
            "agents.pm.modle",
            "Did you mean model? Known: backend, model, persona",
        ),
        ('[agents.pm]\nmodel = ""', "agents.pm.model", "must be a text of 1 to 200 characters"),
        ('[agents.pm]\nmodel = "\\u001b[31m"', "agents.pm.model", "must be a text"),
        ('[agents.pm]\npersona = "Plan"', "agents.pm.persona", "not Plan"),
        (
            '[agents.pm]\nbackend = "claud"',
            "agents.pm.backend",
            "unknown backend claud. Did you mean claude? Known: echo, local, rehearsal, claude, codex",
        ),
    ],
)
def test_a_refused_key_is_named_with_its_file_and_what_is_allowed(
    place: Place, content: str, key: str, message: str
) -> None:
    place.user(content)
    error = place.error()
    assert (error.file, error.key) == (place.user_file, key)
    assert message in error.message
    assert str(error).startswith(f"{place.user_file}: ")

    place.user("")
    place.trusted(content)
    assert place.error().file == place.project_file


def test_a_secret_in_the_wrong_place_is_not_shown(place: Place) -> None:
    for content in ('wait_timeout = "hunter2"', COMMAND + 'env = ["K=hunter2"]', 'api_key = "hunter2"'):
        place.user(content)
        assert "hunter2" not in str(place.error())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x = \n", "is not valid TOML: Invalid value (at line 1"),
        (b"\n\n[a\n", "line 3"),
        (b"a = 1\na = 2\n", "is not valid TOML"),
        (b'a = "\x1b"', "is not valid TOML"),
        (b"wait_timeout = 5 \xff", "is not UTF-8 text (line 1)"),
        (b"\xff\xfea\x00", "is not UTF-8"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a = " + b"9" * 10_000, "is not valid TOML"),
        (b"a = 1\n" + b"#" * (1024 * 1024), "is too large: more than 1 MiB"),
    ],
)
def test_a_file_that_is_not_toml(place: Place, content: bytes, message: str) -> None:
    place.user(content)
    error = place.error()
    assert (error.file, error.key) == (place.user_file, "")
    assert message in str(error)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(place: Place) -> None:
    place.user(b"\xef\xbb\xbfmax_parallel = 3\r\nwait_timeout = 4\r\n")
    assert place.load().policy.max_parallel == 3


def test_where_the_users_file_is(place: Place, tmp_path: Path) -> None:
    place.user("max_parallel = 2")
    other = tmp_path / "xdg" / "teambot" / "config.toml"
    other.parent.mkdir(parents=True)
    other.write_text("max_parallel = 3")
    named = place.project / "named.toml"
    named.write_text("max_parallel = 4")
    assert place.load().policy.max_parallel == 2
    assert place.load(XDG_CONFIG_HOME="").policy.max_parallel == 2
    assert place.load(XDG_CONFIG_HOME="relative").policy.max_parallel == 2
    assert place.load(XDG_CONFIG_HOME=str(tmp_path / "xdg")).policy.max_parallel == 3
    assert place.load(TEAMBOT_CONFIG=str(named)).policy.max_parallel == 4
    assert place.load(TEAMBOT_CONFIG="named.toml").policy.max_parallel == 4
    assert place.load(TEAMBOT_CONFIG="").policy.max_parallel == 2
    assert place.load(TEAMBOT_CONFIG="/dev/null").policy.max_parallel == 6
    assert place.load(HOME="/dev/null").policy.max_parallel == 6


def test_a_config_that_is_named_must_exist(place: Place) -> None:
    error = place.error(TEAMBOT_CONFIG="/no/such.toml")
    assert str(error) == "/no/such.toml: does not exist, but TEAMBOT_CONFIG names it"


def test_the_projects_file_named_as_the_users_needs_no_trust(place: Place) -> None:
    place.project_file.write_text("max_parallel = 4")
    settings = place.load(TEAMBOT_CONFIG="teambot.toml")
    assert settings.policy.max_parallel == 4
    assert settings.notes == ()


def test_only_the_working_directory_is_looked_at(place: Place) -> None:
    place.trusted("max_parallel = 4")
    (place.project / "sub").mkdir()
    place.project /= "sub"
    assert place.load() == Settings()


def test_a_file_that_cannot_be_read(place: Place) -> None:
    place.user_file.mkdir()
    assert "is not a regular file" in str(place.error())
    place.user_file.rmdir()
    os.mkfifo(place.project_file)
    assert place.load() == Settings()
    assert "is not a regular file" in read_team_files(place.project, place.environ).problems[0]


@pytest.mark.parametrize(
    ("value", "references"),
    [
        ("0", False),
        ("false", False),
        ("OFF", False),
        (" no ", False),
        ("", True),
        ("1", True),
        ("true", True),
    ],
)
def test_references_can_be_turned_off_in_the_environment(place: Place, value: str, references: bool) -> None:
    assert place.load(TEAMBOT_ENABLE_AGENT_REFS=value).policy.references is references
    place.user("references = false")
    expected = references if value else False
    assert place.load(TEAMBOT_ENABLE_AGENT_REFS=value).policy.references is expected


def test_a_switch_that_is_neither_on_nor_off(place: Place) -> None:
    error = place.error(TEAMBOT_ENABLE_AGENT_REFS="maybe")
    assert str(error) == "TEAMBOT_ENABLE_AGENT_REFS: must be 0 to turn references off, or 1"


def load_any(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as root:
        place = Place(Path(root))
        place.trusted(content)
        with suppress(SettingsError):
            settings = place.load()
            assert settings.notes == ()
            assert settings.backend in settings.backends


@hypothesis.settings(deadline=None)
@given(st.binary())
@example(b"a." * 1000 + b"a = 1")
@example(b"a = {b = " * 5000)
@example(b"[a]\n" * 2)
def test_any_bytes_give_settings_or_one_error(content: bytes) -> None:
    load_any(content)


KEYS = ["default_agent", "backend", "wait_timeout", "max_parallel", "references", "agents", "agents.pm"]
KEYS += [
    "agents.pm.model",
    "agents.all",
    "backends",
    "backends.x",
    "backends.x.type",
    "backends.x.command",
    "x",
]
VALUES = ["1", "-1", "0", "1e400", "nan", "true", "''", "'pm'", "'echo'", "'all'", "[]", "['a']", "[1]", "{}"]
VALUES += [
    "2000-01-01",
    "{type = 'echo'}",
    "{x = {type = 'rehearsal', seed = 1}}",
    "{pm = {}}",
    f"0x{'f' * 5000}",
]


@hypothesis.settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=6))
def test_any_values_for_the_keys_give_settings_or_one_error(pairs: list[tuple[str, str]]) -> None:
    load_any("\n".join(f"{key} = {value}" for key, value in pairs).encode())


def test_keys_are_the_persons_own(place: Place) -> None:
    place.user('[keys]\ngraph = "f5"\nsend = ["ctrl+s", "enter"]')
    settings = place.load()
    assert settings.keys == {"graph": ("f5",), "send": ("ctrl+s", "enter")}
    assert settings.error("keys.graph", "x").file == place.user_file
    place.trusted('[keys]\ngraph = "f5"')
    error = place.error()
    assert (error.file, error.key) == (place.project_file, "keys")
    assert str(place.user_file) in str(error)


@pytest.mark.parametrize("value", ["1", '""', "[]", '["f5", 2]', '["f5", " "]', "{}", f'"{"x" * 99}"'])
def test_keys_of_the_wrong_shape(place: Place, value: str) -> None:
    place.user(f"[keys]\ngraph = {value}")
    error = place.error()
    assert error.key == "keys.graph"
    assert 'a key such as "f5"' in error.message


def test_how_a_person_is_called(place: Place) -> None:
    assert place.load().notify == ("toast",)
    place.user('notify = ["bell", "osc9"]')
    assert place.load().notify == ("bell", "osc9")
    place.user("notify = []")
    assert place.load().notify == ()
    place.trusted('notify = ["bell"]')
    assert place.error().key == "notify"


@pytest.mark.parametrize("value", ['"bell"', '["siren"]', "[1]", "true"])
def test_a_way_to_call_that_there_is_not(place: Place, value: str) -> None:
    place.user(f"notify = {value}")
    assert place.error().message.startswith("must be a list of any of toast, bell, osc9, not ")
