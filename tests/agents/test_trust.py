"""Trust: exactly these bytes in exactly this directory, or nothing."""

from __future__ import annotations

import hashlib
import json
import stat
from typing import TYPE_CHECKING

import pytest

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.places import config_directory
from teambot_tui.agents.settings import load_settings
from teambot_tui.agents.trust import RECORD, is_trusted, trust

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"max_parallel = 2\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project_file(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    path = tmp_path / "project" / "teambot.toml"
    path.write_bytes(CONTENT)
    return path


def record_of(environ: dict[str, str]) -> Path:
    return config_directory(environ) / RECORD


def test_nothing_is_trusted_before_it_was_trusted(project_file: Path, environ: dict[str, str]) -> None:
    assert not is_trusted(project_file, CONTENT, environ)
    settings = load_settings(project_file.parent, environ)
    assert settings.policy.max_parallel == 6
    assert settings.notes == ("teambot.toml is ignored until you trust it: teambot trust",)
    assert not record_of(environ).exists()


def test_a_file_that_is_not_trusted_is_not_even_parsed(project_file: Path, environ: dict[str, str]) -> None:
    project_file.write_bytes(b"\xff not toml")
    assert len(load_settings(project_file.parent, environ).notes) == 1


def test_trusted_bytes_count_and_changed_ones_do_not(project_file: Path, environ: dict[str, str]) -> None:
    trust(project_file, environ)
    settings = load_settings(project_file.parent, environ)
    assert settings.policy.max_parallel == 2
    assert settings.notes == ()
    project_file.write_bytes(CONTENT + b"# changed\n")
    assert load_settings(project_file.parent, environ).policy.max_parallel == 6
    assert is_trusted(project_file, CONTENT, environ)
    trust(project_file, environ)
    assert load_settings(project_file.parent, environ).policy.max_parallel == 2


def test_trust_does_not_travel_to_another_directory(project_file: Path, environ: dict[str, str]) -> None:
    trust(project_file, environ)
    assert not is_trusted(project_file.parent.parent / "teambot.toml", CONTENT, environ)


def test_a_directory_is_the_same_by_any_path(
    project_file: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project_file.parent)
    trust(tmp_path / "link" / "teambot.toml", environ)
    assert is_trusted(project_file, CONTENT, environ)


def test_what_is_recorded(project_file: Path, environ: dict[str, str]) -> None:
    trust(project_file, environ)
    record = record_of(environ)
    assert json.loads(record.read_text()) == {
        str(project_file.parent.resolve()): hashlib.sha256(CONTENT).hexdigest()
    }
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert [path.name for path in record.parent.iterdir()] == [RECORD]


def test_what_was_trusted_before_stays_trusted(
    project_file: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "teambot.toml").write_bytes(b"")
    trust(project_file, environ)
    trust(other / "teambot.toml", environ)
    assert is_trusted(project_file, CONTENT, environ)
    assert is_trusted(other / "teambot.toml", b"", environ)


def test_a_directory_with_a_name_that_is_not_utf_8(tmp_path: Path, environ: dict[str, str]) -> None:
    project = tmp_path / "caf\udce9"
    try:
        project.mkdir()
    except OSError:
        pytest.skip("this file system takes no such name")
    (project / "teambot.toml").write_bytes(CONTENT)
    trust(project / "teambot.toml", environ)
    assert is_trusted(project / "teambot.toml", CONTENT, environ)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"text"',
        b"[" * 100_000,
        b'{"a": ' * 100_000,
        b"9" * 10_000,
        b" " * (1024 * 1024 + 1),
    ],
)
def test_a_broken_record_trusts_nothing_and_can_be_replaced(
    project_file: Path, environ: dict[str, str], broken: bytes
) -> None:
    record = record_of(environ)
    record.parent.mkdir(parents=True)
    record.write_bytes(broken)
    assert not is_trusted(project_file, CONTENT, environ)
    trust(project_file, environ)
    assert is_trusted(project_file, CONTENT, environ)


@pytest.mark.parametrize("digest", [None, True, 0, [], {}, "", "0" * 64])
def test_a_wrong_digest_trusts_nothing(project_file: Path, environ: dict[str, str], digest: object) -> None:
    record = record_of(environ)
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({str(project_file.parent.resolve()): digest}))
    assert not is_trusted(project_file, CONTENT, environ)


def test_a_record_that_is_a_directory(project_file: Path, environ: dict[str, str]) -> None:
    record_of(environ).mkdir(parents=True)
    assert not is_trusted(project_file, CONTENT, environ)
    with pytest.raises(SettingsError, match="cannot be written"):
        trust(project_file, environ)
    assert [path.name for path in record_of(environ).parent.iterdir()] == [RECORD]


def test_there_must_be_something_to_trust(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        trust(tmp_path / "teambot.toml", environ)
    (tmp_path / "teambot.toml").mkdir()
    with pytest.raises(SettingsError, match="is not a regular file"):
        trust(tmp_path / "teambot.toml", environ)


def test_the_record_is_kept_where_the_user_is_and_not_beside_another_config(
    project_file: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    configured = environ | {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "TEAMBOT_CONFIG": str(project_file)}
    trust(project_file, configured)
    assert (tmp_path / "xdg" / "teambot" / RECORD).exists()
