"""Captured outputs: bounded, private, readable at any time, and never anywhere else than in their folder."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teambot_tui.engine.text import Tail
from teambot_tui.store.captures import OutputFile
from teambot_tui.store.folders import StoreError, file_name, opened
from teambot_tui.store.live import InUseError, LiveMark, is_live
from teambot_tui.store.outputs import Outputs, read_output
from tests.cost import is_linear

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = "20261118-105501-3f2a"
PATIENCE = 60


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def outputs(tmp_path: Path, warnings: list[str]) -> Iterator[Outputs]:
    made = Outputs(tmp_path / "home", RUN, on_failure=warnings.append)
    yield made
    made.close()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_an_output_is_readable_while_it_grows_and_complete_at_its_end(outputs: Outputs) -> None:
    outputs.begin("pm#1")
    outputs.append("pm#1", "one ")
    assert outputs.flush(PATIENCE)
    assert outputs.read(RUN, "pm#1") == "one "
    outputs.append("pm#1", "two")
    assert outputs.flush(PATIENCE)
    assert outputs.read(RUN, "pm#1") == "one two"
    outputs.append("pm#1", " three")
    outputs.end("pm#1")
    outputs.close()
    assert (outputs.folder / "pm#1.txt").read_text() == "one two three"
    assert files(outputs.folder) == {".live", "pm#1.txt"}


def test_it_is_written_without_anybody_waiting_for_it(outputs: Outputs) -> None:
    outputs.append("pm#1", "said")
    deadline = time.monotonic() + PATIENCE
    while outputs.read(RUN, "pm#1") != "said":
        assert time.monotonic() < deadline
        os.sched_yield()


def test_a_reader_never_sees_half_of_a_change(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, RUN, 1024)
    done = threading.Event()
    whole = "".join(f"{number};" for number in range(3000))
    seen: set[str] = set()

    def watch() -> None:
        while not done.is_set():
            seen.add(outputs.read(RUN, "pm#1") or "")

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(3000):
        outputs.append("pm#1", f"{number};")
        if number % 10 == 0:
            outputs.flush(PATIENCE)
    outputs.close()
    done.set()
    watcher.join()
    seen.add(outputs.read(RUN, "pm#1") or "")
    for text in seen:
        note, cut, kept = text.partition("\n")
        assert (kept in whole and note.startswith("[The first ")) if cut else whole.startswith(text)


def test_a_task_that_says_nothing_has_an_empty_output(outputs: Outputs) -> None:
    outputs.begin("pm#1")
    outputs.end("pm#1")
    outputs.end("never#1")
    outputs.close()
    assert outputs.read(RUN, "pm#1") == ""
    assert outputs.read(RUN, "never#1") is None


def test_a_task_that_begins_again_starts_anew(outputs: Outputs) -> None:
    for text in ("the first, longer", "second"):
        outputs.begin("pm#1")
        outputs.append("pm#1", text)
        outputs.end("pm#1")
        outputs.flush(PATIENCE)
    assert outputs.read(RUN, "pm#1") == "second"


def test_nothing_is_made_before_the_first_task_and_nothing_taken_after_the_end(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path / "home", RUN)
    outputs.flush(PATIENCE)
    outputs.close()
    outputs.append("pm#1", "late")
    assert not (tmp_path / "home").exists()


def test_files_are_private(tmp_path: Path, outputs: Outputs) -> None:
    (tmp_path / "home" / "outputs").mkdir(parents=True, mode=0o755)
    before = os.umask(0)
    try:
        outputs.append("pm#1", "secret")
        outputs.close()
    finally:
        os.umask(before)
    assert mode(outputs.folder.parent) == mode(outputs.folder) == 0o700
    assert {mode(path) for path in outputs.folder.iterdir()} == {0o600}


@pytest.mark.parametrize("piece", ["x", "äöü€", "🙂", "line\n"])
@pytest.mark.parametrize("ended", [False, True])
def test_only_the_tail_is_kept_in_whole_characters(tmp_path: Path, piece: str, ended: bool) -> None:
    outputs = Outputs(tmp_path, RUN, 1024)
    whole = ""
    for number in range(400):
        text = f"{number}{piece * 7}"
        whole += text
        outputs.append("pm#1", text)
        if number % 3 == 0:
            outputs.flush(PATIENCE)
            assert len((outputs.folder / "pm#1.txt").read_bytes()) <= 1024
    if ended:
        outputs.end("pm#1")
    outputs.flush(PATIENCE)
    content = (outputs.folder / "pm#1.txt").read_bytes()
    assert len(content) <= 1024
    first, _, kept = content.decode().partition("\n")
    missing = len(whole.encode()) - len(kept.encode())
    assert first == f"[The first {missing:,} bytes of this output are not kept.]"
    assert whole.endswith(kept)
    assert len(kept.encode()) >= (1024 - 100 - 3 if ended else 1024 // 2 - 100 - 3)
    outputs.close()


@pytest.mark.parametrize("size", [1023, 1024, 1025])
def test_what_fits_exactly_is_whole(tmp_path: Path, size: int) -> None:
    outputs = Outputs(tmp_path, RUN, 1024)
    outputs.append("pm#1", "x" * size)
    outputs.close()
    content = (outputs.folder / "pm#1.txt").read_text()
    assert (content == "x" * size) is (size <= 1024)
    assert len(content) <= 1024


def test_a_gap_between_two_writes_is_never_hidden(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    capture = OutputFile("x.txt", 1024)
    for text in ("old " * 10, "ä" * 5000):
        news = Tail(1024)
        news.append(text)
        capture.write(folder, news, ended=False)
    news = Tail(1024)
    capture.write(folder, news, ended=True)
    os.close(folder)
    note, _, kept = (tmp_path / "x.txt").read_text().partition("\n")
    assert set(kept) == {"ä"}
    assert note == f"[The first {40 + 10000 - len(kept.encode()):,} bytes of this output are not kept.]"


def test_a_hundred_megabytes_cost_neither_memory_nor_time(tmp_path: Path) -> None:
    piece = "0123456789abcdef" * 4096

    def keep(count: int) -> None:
        outputs = Outputs(tmp_path, RUN)
        for _ in range(count):
            outputs.append("pm#1", piece)
        outputs.close()
        assert (outputs.folder / "pm#1.txt").stat().st_size <= 100 * 1024

    tracemalloc.start()
    try:
        keep(1600)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * 1024 * 1024
    assert is_linear(keep, 1600)


HOSTILE_NAMES = [
    "../../x",
    "/etc/passwd",
    "a\0b",
    "..",
    ".",
    "",
    ".live",
    "con",
    "nul.1",
    "main.1/planner",
    "a" * 5000,
    "ä🙂",
    "PM",
    "a\nb",
    "\udc80",
    "%2e%2e",
    "-rf",
    "a\\b",
]


@pytest.mark.parametrize("task", HOSTILE_NAMES)
def test_no_name_leaves_the_folder(tmp_path: Path, outputs: Outputs, task: str, warnings: list[str]) -> None:
    outputs.append(task, "kept")
    outputs.close()
    assert outputs.read(RUN, task) == "kept"
    assert not warnings
    found = {path.relative_to(tmp_path).parts for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {
        ("home", "outputs", RUN, ".live"),
        ("home", "outputs", RUN, file_name(task)),
    }


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("pm#1", "pm#1.txt"),
        ("builder-1#3", "builder-1#3.txt"),
        ("main.1/planner", "main.1%2Fplanner.txt"),
        ("../../x", "%2E.%2F..%2Fx.txt"),
        ("PM", "%50%4D.txt"),
        ("con", "%63on.txt"),
        ("con.x", "%63on.x.txt"),
        ("console", "console.txt"),
        ("", "%.txt"),
    ],
)
def test_names_stay_readable(task: str, name: str) -> None:
    assert file_name(task) == name


@given(st.lists(st.text(st.characters(codec=None)), unique=True, max_size=5))
def test_different_tasks_have_different_files_on_any_disk(tasks: list[str]) -> None:
    names = {file_name(task).casefold() for task in tasks}
    assert len(names) == len(tasks)
    assert all(len(name.encode()) <= 200 and "/" not in name and "\0" not in name for name in names)


@pytest.mark.parametrize("run", ["..", "", "a/b", "/x", "a\0", "A", ".live", "x" * 65, "a\n"])
def test_what_is_no_run_id_is_refused(tmp_path: Path, run: str) -> None:
    with pytest.raises(ValueError, match="not a run id"):
        Outputs(tmp_path, run)
    with pytest.raises(StoreError, match="not a run id"):
        read_output(tmp_path, run, "pm#1")


def test_a_limit_without_room_for_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1024 bytes"):
        Outputs(tmp_path, RUN, 1023)


@pytest.mark.parametrize("place", ["outputs", f"outputs/{RUN}"])
def test_a_linked_folder_is_refused_and_its_target_untouched(
    tmp_path: Path, outputs: Outputs, warnings: list[str], place: str
) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    (target / "pm#1.txt").write_text("mine")
    link = tmp_path / "home" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    for _ in range(3):
        outputs.begin("pm#1")
        outputs.append("pm#1", "text")
        outputs.end("pm#1")
        outputs.flush(PATIENCE)
    outputs.close()
    assert warnings == [
        f"Outputs cannot be kept in {outputs.folder}: it is a link, or not a folder, and is left alone"
    ]
    assert files(target) == {"pm#1.txt"}
    assert (target / "pm#1.txt").read_text() == "mine"
    assert mode(target) == 0o755
    with pytest.raises(StoreError, match="is a link"):
        outputs.read(RUN, "pm#1")


@pytest.mark.parametrize("name", ["pm#1.txt", ".pm#1.txt.part"])
@pytest.mark.parametrize("when", ["before", "while it runs"])
@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_linked_file_is_replaced_and_its_target_untouched(
    tmp_path: Path, outputs: Outputs, name: str, when: str, kind: str
) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    if when == "before":
        outputs.folder.mkdir(parents=True)
    else:
        outputs.append("pm#1", "first ")
        outputs.flush(PATIENCE)
        (outputs.folder / name).unlink(missing_ok=True)
    if kind == "hard":
        (outputs.folder / name).hardlink_to(target)
    else:
        (outputs.folder / name).symlink_to(target)
    outputs.append("pm#1", "more")
    outputs.flush(PATIENCE)
    outputs.end("pm#1")
    outputs.close()
    assert target.read_text() == "mine"
    assert outputs.read(RUN, "pm#1") == ("more" if when == "before" else "first more")
    assert not (outputs.folder / "pm#1.txt").is_symlink()


def test_a_linked_mark_is_refused(tmp_path: Path, outputs: Outputs, warnings: list[str]) -> None:
    (tmp_path / "target").write_text("mine")
    outputs.folder.mkdir(parents=True)
    (outputs.folder / ".live").symlink_to(tmp_path / "target")
    outputs.append("pm#1", "text")
    outputs.close()
    assert len(warnings) == 1
    assert (tmp_path / "target").read_text() == "mine"


@pytest.mark.parametrize("place", [".", "outputs", f"outputs/{RUN}"])
def test_a_file_in_the_way_is_reported_once(
    tmp_path: Path, outputs: Outputs, warnings: list[str], place: str
) -> None:
    path = tmp_path / "home" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    for number in range(5):
        outputs.append(f"pm#{number}", "text")
        outputs.flush(PATIENCE)
    outputs.close()
    assert len(warnings) == 1
    assert path.read_text() == "mine"


def test_a_full_disk_is_reported_once_and_forgiven(tmp_path: Path) -> None:
    """The limit on the size of files makes a disk that is full, in a process of its own."""
    script = f"""
import resource, signal, sys
from pathlib import Path
from teambot_tui.store.outputs import Outputs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
outputs = Outputs(Path({str(tmp_path)!r}), {RUN!r}, on_failure=print)
outputs.append("pm#1", "a" * 1000)
assert outputs.flush(60)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
for _ in range(3):
    outputs.append("pm#1", "b" * 1000)
    assert outputs.flush(60)
print(len(outputs.read({RUN!r}, "pm#1")))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
outputs.append("pm#1", "c")
outputs.close()
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stderr
    reason = os.strerror(errno.EFBIG)
    assert ran.stdout.splitlines() == [
        f"Outputs cannot be kept in {tmp_path / 'outputs' / RUN}: {reason}",
        "1000",
    ]
    folder = tmp_path / "outputs" / RUN
    assert (folder / "pm#1.txt").read_text() == "a" * 1000 + "b" * 3000 + "c"
    assert files(folder) == {".live", "pm#1.txt"}


def test_a_report_that_fails_hurts_nobody(tmp_path: Path) -> None:
    def fail(_: str) -> None:
        raise RuntimeError

    (tmp_path / "outputs").write_text("")
    outputs = Outputs(tmp_path, RUN, on_failure=fail)
    outputs.append("pm#1", "text")
    outputs.close()


def test_a_folder_that_vanishes_is_reported_once(outputs: Outputs, warnings: list[str]) -> None:
    outputs.append("pm#1", "text")
    outputs.flush(PATIENCE)
    for path in outputs.folder.iterdir():
        path.unlink()
    outputs.folder.rmdir()
    for _ in range(3):
        outputs.append("pm#1", "text")
        outputs.flush(PATIENCE)
    outputs.close()
    assert len(warnings) == 1


def test_telling_never_waits_for_the_disk(tmp_path: Path) -> None:
    """A pipe in the place of the whole home would hang whoever opened it; here the report hangs instead."""
    gate = threading.Event()
    reported = threading.Event()

    def hang(_: str) -> None:
        reported.set()
        gate.wait(PATIENCE)

    (tmp_path / "outputs").write_text("")
    outputs = Outputs(tmp_path, RUN, 1024, on_failure=hang)
    outputs.begin("pm#1")
    assert reported.wait(PATIENCE)
    for _ in range(10_000):
        outputs.append("pm#1", "text" * 100)
    assert not outputs.flush(0)
    gate.set()
    outputs.close()


def test_many_tasks_from_many_threads(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, RUN)

    def tell(number: int) -> None:
        for task in range(20):
            outputs.begin(f"t{number}#{task}")
            for piece in range(20):
                outputs.append(f"t{number}#{task}", f"{piece};")
            outputs.end(f"t{number}#{task}")

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outputs.close()
    expected = "".join(f"{piece};" for piece in range(20))
    assert {path.read_text() for path in outputs.folder.glob("*.txt")} == {expected}
    assert len(list(outputs.folder.glob("*.txt"))) == 160


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    before = descriptors()
    outputs = Outputs(tmp_path, RUN)
    for number in range(5):
        outputs.append(f"pm#{number}", "text")
        outputs.flush(PATIENCE)
    outputs.close()
    outputs.read(RUN, "pm#1")
    assert descriptors() == before


def test_a_run_is_live_exactly_until_it_is_closed(outputs: Outputs) -> None:
    outputs.append("pm#1", "text")
    outputs.flush(PATIENCE)
    with opened(outputs.folder, ()) as folder:
        assert is_live(folder)
        with pytest.raises(InUseError):
            LiveMark(folder)
        outputs.close()
        assert not is_live(folder)
        with LiveMark(folder):
            assert is_live(folder)


def test_killed_in_the_middle_it_leaves_what_was_written_and_no_mark(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from teambot_tui.store.outputs import Outputs
outputs = Outputs(Path({str(tmp_path)!r}), {RUN!r})
outputs.append("pm#1", "written")
outputs.flush(60)
print("ready", flush=True)
while True:
    outputs.append("ba#1", "x" * 100_000)
    outputs.flush(60)
"""
    # Its standard output is closed by its death, so reading to the end waits for that.
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            with opened(tmp_path, ("outputs", RUN)) as folder:
                assert is_live(folder)
        finally:
            child.kill()
        child.wait(PATIENCE)
    with opened(tmp_path, ("outputs", RUN)) as folder:
        assert not is_live(folder)
    assert read_output(tmp_path, RUN, "pm#1") == "written"
    half_said = read_output(tmp_path, RUN, "ba#1")
    assert half_said is None or set(half_said.partition("]\n")[2] or half_said) <= {"x"}
