"""A program as an agent: what it prints arrives, and every way to fail says what to do."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from teambot_tui.agents.backends.command import CommandBackend
from teambot_tui.agents.groups import guard
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import BackendError, Request, Text, ToolServer
from tests.agents.conformance import Go
from tests.agents.test_process import SAFETY, Gate, carriers, python

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = "; its partial output is kept"
OWN_NAME = Path(sys.executable).name


@pytest.fixture(autouse=True)
def _nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mark = f"test-{os.urandom(8).hex()}"
    monkeypatch.setenv("TEAMBOT_PROCESS", mark)
    yield
    guard.dismiss()
    assert psutil.Process().children(recursive=True) == []
    assert carriers(mark) == []


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.close()


class Answer:
    """What a backend said, piece by piece, and how it failed if it did."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.error: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def request(directory: Path, *, prompt: str = "", system: str = "", model: str | None = None) -> Request:
    return Request(
        task=TaskId("pm#1"),
        agent=AgentId("pm"),
        prompt=prompt,
        system=system,
        model=model,
        directory=directory,
        instruction=prompt,
        given=(),
    )


async def answer(command: CommandBackend, work: Request) -> Answer:
    result = Answer()
    try:
        async with asyncio.timeout(SAFETY), aclosing(command.run(work)) as updates:
            async for update in updates:
                assert isinstance(update, Text)
                result.pieces.append(update.text)
    except BackendError as error:
        result.error = str(error)
    return result


async def test_the_prompt_goes_by_standard_input_as_it_is(tmp_path: Path) -> None:
    prompt = "plan {system} $HOME `id`\n\0 – ünïcödé \ud800"
    result = await answer(CommandBackend(["cat"]), request(tmp_path, prompt=prompt))
    assert result.error is None
    assert result.text == prompt.replace("\ud800", "?")


async def test_placeholders_are_replaced_once_and_no_shell_sees_them(tmp_path: Path) -> None:
    script = "print(*sys.argv[1:], repr(sys.stdin.read()), sep='\\n')"
    command = CommandBackend(
        python(script, "{prompt}", "as={system}/{model}", "{other}", "{{model}}", "$HOME")
    )
    work = request(tmp_path, prompt="{system};{model}", system="{prompt}", model="opus")
    result = await answer(command, work)
    expected = ["{system};{model}", "as={prompt}/opus", "{other}", "{opus}", "$HOME", "''"]
    assert result.text.splitlines() == expected


async def test_a_lone_surrogate_can_be_an_argument(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["echo", "{prompt}"]), request(tmp_path, prompt="a\ud800b"))
    assert result.text == "a?b\n"


@pytest.mark.parametrize("model", [None, ""])
async def test_a_model_that_is_needed_and_missing_is_asked_for(tmp_path: Path, model: str | None) -> None:
    result = await answer(CommandBackend(["agent", "--model={model}"]), request(tmp_path, model=model))
    assert result.error == (
        'agent needs a model: write @pm --model NAME …, or set model = "NAME" under [agents.pm]'
    )


@pytest.mark.parametrize(("read_only", "said"), [(False, "go"), (True, "go --sandbox read-only")])
async def test_a_program_that_may_change_nothing_is_told(tmp_path: Path, read_only: bool, said: str) -> None:
    command = CommandBackend(["echo", "go"], read_only_arguments=["--sandbox", "read-only"])
    work = replace(request(tmp_path), read_only=read_only)
    text = "".join([update.text async for update in command.run(work) if isinstance(update, Text)])
    assert text.strip() == said


async def test_a_model_cannot_be_an_option(tmp_path: Path) -> None:
    command = CommandBackend(["echo"], model_arguments=["--model", "{model}"])
    result = await answer(command, request(tmp_path, model="--dangerously-allow-all"))
    assert result.error == "--dangerously-allow-all is no model: it would be an option"


async def test_a_program_that_is_not_on_path(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["no-such-program"]), request(tmp_path))
    assert result.error == "there is no program no-such-program: it is not on PATH"


async def test_a_program_that_is_not_where_it_was_said_to_be(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["./agent"]), request(tmp_path))
    assert result.error == "there is no program ./agent"


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        ("#!/bin/sh\n", 0o644, "is not executable: try chmod +x"),
        ("#!/no/such\n", 0o755, "does not start: the interpreter that its first line names is missing"),
        ("\1", 0o755, "does not start: Exec format error"),
    ],
)
async def test_a_file_that_is_no_program(tmp_path: Path, content: str, mode: int, reason: str) -> None:
    program = tmp_path / "agent"
    program.write_text(content)
    program.chmod(mode)
    result = await answer(CommandBackend([str(program)]), request(tmp_path))
    assert result.error == f"{program} {reason}"


async def test_a_program_on_path_that_is_not_executable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agent").touch(0o644)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = await answer(CommandBackend(["agent"]), request(tmp_path))
    assert result.error == "agent is not executable: try chmod +x"


async def test_a_directory_that_is_missing(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    result = await answer(CommandBackend(["cat"]), request(nowhere))
    assert result.error == f"cat cannot work in the directory {nowhere}: No such file or directory"


async def test_an_argument_that_is_too_long(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["echo", "{prompt}"]), request(tmp_path, prompt="x" * 10_000_000))
    assert result.error == (
        "the arguments of echo are too long: "
        "leave {prompt} out of its command, and the prompt goes by standard input"
    )


async def test_a_persona_that_is_too_long(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["echo", "{system}"]), request(tmp_path, system="x" * 10_000_000))
    assert result.error == "the arguments of echo are too long: leave {system} out of its command"


async def test_an_argument_that_no_program_can_be_given(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["echo", "{prompt}"]), request(tmp_path, prompt="a\0b"))
    assert result.error is not None
    assert result.error.startswith("echo cannot be given a NUL character as an argument: leave {prompt} out")


async def test_an_exit_status_comes_with_the_last_lines_of_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "sys.stderr.write('noise\\n' * 100_000 + 'a\\nb\\n\\nc\\nd\\nno key\\n'); sys.exit(3)"
    result = await answer(CommandBackend(python(script)), request(tmp_path))
    assert result.error == f"{OWN_NAME} ended with exit status 3: a\nb\nc\nd\nno key"
    assert capfd.readouterr() == ("", "")


async def test_an_exit_status_without_a_word_says_so(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["sh", "-c", "exit 4"]), request(tmp_path))
    assert result.error == "sh ended with exit status 4 and wrote nothing to its standard error"


async def test_a_failure_after_some_output_says_that_it_is_kept(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["sh", "-c", "echo one; echo boom >&2; exit 5"]), request(tmp_path))
    assert result.text == "one\n"
    assert result.error == f"sh ended with exit status 5: boom{KEPT}"


@pytest.mark.parametrize(("signal", "name"), [("KILL", "SIGKILL"), ("SEGV", "SIGSEGV"), ("40", "signal 40")])
async def test_a_program_that_is_killed_has_its_partial_output_and_names_the_signal(
    tmp_path: Path, signal: str, name: str
) -> None:
    result = await answer(CommandBackend(["sh", "-c", f"echo one; kill -{signal} $$"]), request(tmp_path))
    assert result.text == "one\n"
    assert result.error == f"sh was killed by {name}{KEPT}"


async def test_a_program_that_falls_silent_is_stopped(tmp_path: Path) -> None:
    command = CommandBackend(python("signal.pause()"), silence_timeout=0.1)
    result = await answer(command, request(tmp_path))
    assert result.error == f"{OWN_NAME} was stopped: no output for 0.1 s"


async def test_a_program_that_falls_silent_after_some_output(tmp_path: Path) -> None:
    command = CommandBackend(["sh", "-c", "echo one; exec tail -f /dev/null"], silence_timeout=2)
    result = await answer(command, request(tmp_path))
    assert result.text == "one\n"
    assert result.error == f"sh was stopped: no output for 2 s{KEPT}"


async def test_a_character_cut_between_chunks_stays_whole(tmp_path: Path) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    go_on = os.open(go, os.O_RDWR)
    script = r"os.write(1, b'a\xe2\x82'); open(sys.argv[1]).read(1); os.write(1, b'\xac')"
    updates = CommandBackend(python(script, go)).run(request(tmp_path))
    async with asyncio.timeout(SAFETY), aclosing(updates):
        assert await anext(updates) == Text("a")
        os.write(go_on, b"!")
        assert await anext(updates) == Text("€")
    os.close(go_on)


async def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    result = await answer(CommandBackend(python(r"os.write(1, b'a\xffb\xe2\x82')")), request(tmp_path))
    assert result.text == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
    assert result.error is None


async def test_a_program_need_not_read_its_prompt(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["echo", "done"]), request(tmp_path, prompt="x" * 10_000_000))
    assert (result.text, result.error) == ("done\n", None)


async def test_a_program_may_close_its_input_early(tmp_path: Path) -> None:
    command = CommandBackend(["sh", "-c", "exec <&-; echo done"])
    result = await answer(command, request(tmp_path, prompt="x" * 10_000_000))
    assert (result.text, result.error) == ("done\n", None)


async def test_a_program_may_open_its_input_by_name(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["cat", "/dev/stdin"]), request(tmp_path, prompt="plan it"))
    assert (result.text, result.error) == ("plan it", None)


async def test_of_our_environment_a_program_sees_what_is_harmless_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CANARY_SECRET", "CANARY_NAMED", "LC_CANARY", "XDG_CANARY", "HTTPS_PROXY", "TERM"):
        monkeypatch.setenv(name, name.lower())
    script = "print(*(f'{name}={value}' for name, value in os.environ.items()), sep='\\n')"
    result = await answer(
        CommandBackend(
            python(script), env={"CANARY_NAMED": None, "CANARY_UNSET": None, "CANARY_SET": "ours to say"}
        ),
        request(tmp_path),
    )
    seen = dict(line.split("=", 1) for line in result.text.splitlines())
    assert seen["CANARY_NAMED"] == "canary_named"
    assert seen["CANARY_SET"] == "ours to say"
    assert seen["LC_CANARY"] == "lc_canary"
    assert seen["XDG_CANARY"] == "xdg_canary"
    assert seen["PATH"] == os.environ["PATH"]
    assert (seen["TERM"], seen["NO_COLOR"]) == ("dumb", "1")
    assert not {"CANARY_SECRET", "CANARY_UNSET", "HTTPS_PROXY"} & seen.keys()


async def test_a_program_is_marked_beside_the_mark_we_carry_ourselves(tmp_path: Path) -> None:
    result = await answer(CommandBackend(["sh", "-c", "echo $TEAMBOT_PROCESS"]), request(tmp_path))
    inherited, own = result.text.split()
    assert inherited == os.environ["TEAMBOT_PROCESS"]
    assert own != inherited


async def test_a_program_works_in_the_directory_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    assert (await answer(CommandBackend(["ls"]), request(tmp_path))).text == "here\n"


async def test_closing_the_answer_ends_the_program(tmp_path: Path, gate: Gate) -> None:
    # The end of the gate tells that nobody holds it any more.
    script = "gate = open(sys.argv[1], 'w'); print('ready', flush=True); signal.pause()"
    updates = CommandBackend(python(script, gate.path)).run(request(tmp_path))
    async with asyncio.timeout(SAFETY):
        assert await anext(updates) == Text("ready\n")
        await updates.aclose()
    assert await gate.message() == b""


async def test_cancelling_the_reader_ends_the_program(tmp_path: Path, gate: Gate) -> None:
    script = """
gate = os.open(sys.argv[1], os.O_WRONLY)
os.write(gate, b"ready")
signal.pause()
"""
    reader = asyncio.create_task(answer(CommandBackend(python(script, gate.path)), request(tmp_path)))
    assert await gate.message() == b"ready"
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await gate.message() == b""


@pytest.mark.parametrize("offered", [True, False])
async def test_a_program_is_told_where_our_tools_are_in_a_private_file(tmp_path: Path, offered: bool) -> None:
    async def tools() -> ToolServer | None:
        return ToolServer("teambot1", "http://127.0.0.1:1/mcp", "secret") if offered else None

    show = python(
        "import os, sys; print(*sys.argv[1:]); p = sys.argv[1:] and sys.argv[1].split('=')[1]; "
        "print(oct(os.stat(p).st_mode)[-3:], oct(os.stat(os.path.dirname(p)).st_mode)[-3:]) if p else 0; "
        "print(open(p).read() if p else '')"
    )
    backend = CommandBackend(show, tool_arguments=["--mcp-config={tools}"])
    asked = replace(request(tmp_path), tools=tools)
    said = "".join([update.text async for update in backend.run(asked) if isinstance(update, Text)])
    if not offered:
        assert said.strip() == ""
        return
    arguments, modes, config = said.splitlines()
    path = Path(arguments.removeprefix("--mcp-config="))
    assert modes.endswith("700")
    assert json.loads(config)["mcpServers"]["teambot1"] == {
        "type": "http",
        "url": "http://127.0.0.1:1/mcp",
        "httpUrl": "http://127.0.0.1:1/mcp",
        "headers": {"Authorization": "Bearer secret"},
        "trust": True,
    }
    assert not path.parent.exists(), "it is gone with the task"


@pytest.mark.parametrize("offered", [True, False])
async def test_a_program_is_told_of_our_tools_by_variables_and_the_secret_only_there(
    tmp_path: Path, offered: bool
) -> None:
    async def tools() -> ToolServer | None:
        return ToolServer("teambot1", "http://127.0.0.1:1/mcp", "s3cret") if offered else None

    show = python("import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))")
    backend = CommandBackend(
        show,
        tool_arguments=["{tools_name}={tools_url}", "{tools_secret}"],
        tool_env={
            "SECRET": "{tools_secret}",
            "CONFIG": '{"{tools_name}": {"url": "{tools_url}"}}',
            "FILE": "{tools}",
        },
    )
    asked = replace(request(tmp_path), tools=tools)
    said = "".join([update.text async for update in backend.run(asked) if isinstance(update, Text)])
    arguments, environ = json.loads(said)
    if not offered:
        assert arguments == []
        assert not environ.keys() & {"SECRET", "CONFIG", "FILE"}
        return
    assert arguments == ["teambot1=http://127.0.0.1:1/mcp", "{tools_secret}"]
    assert environ["SECRET"] == "s3cret"
    assert json.loads(environ["CONFIG"]) == {"teambot1": {"url": "http://127.0.0.1:1/mcp"}}
    assert Path(environ["FILE"]).name == "mcp.json"


async def test_a_program_that_waits_for_our_tools_is_not_silent(tmp_path: Path) -> None:
    go = Go(tmp_path / "go")
    server = ToolServer("teambot1", "http://127.0.0.1:1/mcp", "secret")

    async def tools() -> ToolServer:
        return server

    waiting = python(f"print('asks', flush=True); open({str(go.path)!r}).read(1); print('done')")
    backend = CommandBackend(waiting, tool_arguments=["{tools}"], silence_timeout=2.5)
    asked = replace(request(tmp_path), tools=tools)
    async with asyncio.timeout(SAFETY), aclosing(backend.run(asked)) as updates:
        assert await anext(updates) == Text("asks\n")
        with server.attention.waited_for(), server.attention.waited_for():
            done = asyncio.ensure_future(anext(updates))
            await asyncio.wait([done], timeout=3.0)
            assert not done.done(), "it may be silent as long as it waits"
            go.tell()
            assert await done == Text("done\n")
    go.close()
