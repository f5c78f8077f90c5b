"""A server as an agent: what it says arrives, every way to fail says what to do, and no key gets out."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from asyncio.subprocess import PIPE
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teambot_tui.agents.backends.openai import OpenAI
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import BackendError, Request, Stateful, Text, Thought, Usage
from tests.agents.http_server import FLOOD, ChatServer
from tests.agents.test_process import SAFETY, python

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from teambot_tui.engine.ports import Update

KEPT = "; its partial output is kept"
CANARY = "sk-canary-7f3a"


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with ChatServer() as running:
        yield running


class Waits(list[float]):
    """Takes the waits between attempts down instead of waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


class Answer:
    """What a backend reported, and how it failed if it did."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.error = ""

    @property
    def text(self) -> str:
        return "".join(update.text for update in self.updates if isinstance(update, Text))


def request(directory: Path, model: str | None, prompt: str = "plan", agent: str = "pm") -> Request:
    return Request(
        task=TaskId(f"{agent}#1"),
        agent=AgentId(agent),
        prompt=prompt,
        system="You plan.",
        model=model,
        directory=directory,
        instruction=prompt,
        given=(),
    )


async def answer(backend: OpenAI, work: Request) -> Answer:
    result = Answer()
    try:
        async with asyncio.timeout(SAFETY), aclosing(backend.run(work)) as updates:
            async for update in updates:
                result.updates.append(update)
    except BackendError as error:
        result.error = str(error)
    return result


async def ask(server: ChatServer, directory: Path, model: str | None, /, **options: Any) -> Answer:  # noqa: ANN401
    """One request to a backend of its own, which never waits between attempts unless told how."""
    backend = OpenAI(server.base_url, **{"sleep": Waits(), **options})
    try:
        return await answer(backend, request(directory, model))
    finally:
        await backend.aclose()


@pytest.mark.parametrize(
    ("model", "updates"),
    [
        ("stream", [Text("one "), Text("two "), Text("three ")]),
        ("usage", [Text("ok"), Usage(7, 2)]),
        ("cost", [Usage(3, 0, 0.25)]),
        ("reasoning", [Thought("hm"), Thought("so"), Text("yes"), Thought("ha"), Text("!")]),
        ("not-streamed", [Text("all at once"), Usage(1, 3)]),
        ("nonsense", [Text("fine")]),
        ("one-byte", [Text("ü€😀")]),
        ("no-done", [Text("one")]),
        ("old", [Text("one "), Text("two "), Text("three ")]),
    ],
)
async def test_what_a_server_says_arrives(
    server: ChatServer, tmp_path: Path, model: str, updates: list[Update]
) -> None:
    result = await ask(server, tmp_path, model)
    assert (result.updates, result.error) == (updates, "")


@pytest.mark.parametrize(
    ("model", "text", "error"),
    [
        ("error-at-once", "", "the server says: [/x] bad luck"),
        ("error-midway", "one", f"the server says: out of memory{KEPT}"),
        ("garbage", "one", f"the server sent something that is no JSON object: {{]{KEPT}"),
        ("page", "", "ORIGIN answers with a web page: is base_url right? It usually ends in /v1"),
        ("bytes", "", "ORIGIN sends nothing that we understand: is base_url right? It usually ends in /v1"),
        ("compressed", "", "ORIGIN compresses its answers although it was asked not to"),
        ("cut", "one", f"the connection to ORIGIN broke off{KEPT}"),
        ("unfinished", "one", f"ORIGIN ended its answer in the middle{KEPT}"),
        ("filtered", "", "the server's content filter stopped the answer"),
        (
            "length",
            "half",
            f"the answer was cut off: it reached the length limit of the server or the model{KEPT}",
        ),
        ("endless-line", "", "the server sent an event of more than 1024 KiB"),
        ("failing", "", "ORIGIN (HTTP 503) failed; it says: out of order"),
        ("patient", "", "ORIGIN (HTTP 429) is busy and asks to wait 86400 s; it says: come back tomorrow"),
        ("streem", "", "unknown model streem. Did you mean stream? ORIGIN/v1 offers: stream, usage"),
        (
            "locked",
            "",
            (
                "ORIGIN (HTTP 401) does not let us in: set api_key_env to the variable that holds its key; "
                "it says: wrong key: none"
            ),
        ),
    ],
)
async def test_a_failure_is_told_in_words_and_keeps_what_was_said(
    server: ChatServer, tmp_path: Path, model: str, text: str, error: str
) -> None:
    result = await ask(server, tmp_path, model)
    assert (result.text, result.error) == (text, error.replace("ORIGIN", server.origin))


async def test_an_answer_that_may_be_cut_says_that_it_was(server: ChatServer, tmp_path: Path) -> None:
    result = await ask(server, tmp_path, "length", may_be_cut=True)
    assert (result.text, result.error) == ("half […]", "")


@pytest.mark.parametrize(("model", "attempts"), [("busy", 2), ("failing-once", 2), ("hung-up-once", 2)])
async def test_a_failure_that_passes_is_not_seen(
    server: ChatServer, tmp_path: Path, model: str, attempts: int
) -> None:
    waits = Waits()
    result = await ask(server, tmp_path, model, sleep=waits)
    assert (result.text, result.error) == ("one two three ", "")
    assert len(server.asked) == attempts
    assert waits == [7.0] if model == "busy" else 0.25 <= waits[0] <= 0.5


@pytest.mark.parametrize(
    ("model", "retries", "attempts"),
    [("failing", 3, 4), ("failing", 0, 1), ("patient", 3, 1), ("cut", 3, 1), ("error-midway", 3, 1)],
)
async def test_attempts_are_counted_and_end_with_the_first_word(
    server: ChatServer, tmp_path: Path, model: str, retries: int, attempts: int
) -> None:
    waits = Waits()
    result = await ask(server, tmp_path, model, sleep=waits, retries=retries)
    assert result.error
    assert len(server.asked) == attempts
    assert len(waits) == attempts - 1
    assert waits == sorted(waits)


async def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{taken.getsockname()[1]}"
        waits = Waits()
        backend = OpenAI(f"{origin}/v1", sleep=waits)
        result = await answer(backend, request(tmp_path, "stream"))
        await backend.aclose()
    assert result.error == f"no server at {origin}: start it, or correct base_url"
    assert len(waits) == 3


async def test_a_base_url_that_is_wrong(server: ChatServer, tmp_path: Path) -> None:
    backend = OpenAI(f"{server.origin}/chat")
    result = await answer(backend, request(tmp_path, "stream"))
    await backend.aclose()
    assert result.error == (
        f"{server.origin} (HTTP 404) answers with a web page: is base_url right? It usually ends in /v1"
    )


@pytest.mark.parametrize(("model", "text", "silence"), [("never", "", 0.1), ("slow", "one ", 2.0)])
async def test_a_server_that_falls_silent(
    server: ChatServer, tmp_path: Path, model: str, text: str, silence: float
) -> None:
    result = await ask(server, tmp_path, model, silence_timeout=silence)
    assert result.text == text
    assert result.error == f"{server.origin} was given up: no output for {silence:g} s{KEPT if text else ''}"
    async with asyncio.timeout(SAFETY):
        await server.left.wait()


@pytest.mark.parametrize("model", ["slow", "never"])
async def test_cancelling_reaches_the_server(server: ChatServer, tmp_path: Path, model: str) -> None:
    backend = OpenAI(server.base_url)
    reader = asyncio.create_task(answer(backend, request(tmp_path, model)))
    async with asyncio.timeout(SAFETY):
        await server.arrived.wait()
        reader.cancel()
        await server.left.wait()
        with pytest.raises(asyncio.CancelledError):
            await reader
    await backend.aclose()


async def test_closing_the_answer_reaches_the_server(server: ChatServer, tmp_path: Path) -> None:
    backend = OpenAI(server.base_url)
    updates = backend.run(request(tmp_path, "slow"))
    async with asyncio.timeout(SAFETY):
        assert await anext(updates) == Text("one ")
        await updates.aclose()
        await server.left.wait()
    await backend.aclose()


async def test_a_flood_passes_through_and_is_not_remembered(server: ChatServer, tmp_path: Path) -> None:
    backend = OpenAI(server.base_url)
    async with asyncio.timeout(SAFETY):
        size = 0
        async for update in backend.run(request(tmp_path, "flood")):
            assert isinstance(update, Text)
            size += len(update.text)
    assert size == FLOOD
    await answer(backend, request(tmp_path, "stream"))
    assert server.asked[-1].messages == [("system", "You plan."), ("user", "plan")]
    await backend.aclose()


async def test_an_agent_remembers_what_it_completed_and_nothing_else(
    server: ChatServer, tmp_path: Path
) -> None:
    backend = OpenAI(server.base_url, sleep=Waits())
    assert isinstance(backend, Stateful)
    await answer(backend, request(tmp_path, "echo", "first"))
    for model in ("error-midway", "length", "failing"):
        await answer(backend, request(tmp_path, model, "lost"))
    await answer(backend, request(tmp_path, "echo", "of another", agent="ba"))
    await answer(backend, request(tmp_path, "echo", "second"))
    assert server.asked[-1].messages == [
        ("system", "You plan."),
        ("user", "first"),
        ("assistant", "first"),
        ("user", "second"),
    ]
    await backend.forget(AgentId("pm"))
    await answer(backend, request(tmp_path, "echo", "third"))
    assert server.asked[-1].messages == [("system", "You plan."), ("user", "third")]
    await backend.aclose()


async def test_a_task_that_ran_while_the_agent_was_made_to_forget_is_forgotten_too(
    server: ChatServer, tmp_path: Path
) -> None:
    backend = OpenAI(server.base_url)
    updates = backend.run(request(tmp_path, "slow"))
    async with asyncio.timeout(SAFETY):
        await anext(updates)
        await backend.forget(AgentId("pm"))
        server.go.set()
        assert [update async for update in updates] == [Text("two")]
    await answer(backend, request(tmp_path, "stream", "next"))
    assert server.asked[-1].messages == [("system", "You plan."), ("user", "next")]
    await backend.aclose()


async def test_text_that_no_encoding_knows_can_be_sent(server: ChatServer, tmp_path: Path) -> None:
    backend = OpenAI(server.base_url)
    result = await answer(backend, request(tmp_path, "echo", 'a\ud800\0"\\ü'))
    assert result.text == 'a?\0"\\ü'
    await backend.aclose()


@pytest.mark.parametrize(
    ("offered", "error"),
    [
        ({"data": [{"id": "stream"}]}, ""),
        ({"models": [{"name": "stream"}]}, ""),
        ({"data": [{"id": "stream"}, {"id": "x"}]}, "URL offers: stream, x"),
        ({"data": []}, "URL offers no model"),
        ({"data": [7, {}, {"id": None}]}, "URL offers no model"),
        ({"data": [{"id": f"m{number}"} for number in range(22)]}, "m18, m19 and 2 more"),
        ([], "sends no list of models: is base_url right? It usually ends in /v1"),
    ],
)
async def test_without_a_model_the_only_one_is_taken(
    server: ChatServer, tmp_path: Path, offered: object, error: str
) -> None:
    server.models = offered
    result = await ask(server, tmp_path, None)
    assert result.error.endswith(error.replace("URL", server.base_url))
    assert result.text == ("" if error else "one two three ")


async def test_the_model_of_the_request_beats_that_of_the_settings(
    server: ChatServer, tmp_path: Path
) -> None:
    await ask(server, tmp_path, "stream", model="usage")
    await ask(server, tmp_path, None, model="usage")
    assert [asked.body["model"] for asked in server.asked] == ["stream", "usage"]


async def test_models_lists_what_is_offered_cleanly(server: ChatServer) -> None:
    server.models = {"data": [{"id": "a"}, {"id": "b\x1b[31m\n"}, {"id": "a"}, {"id": "x" * 1000}]}
    backend = OpenAI(server.base_url)
    assert [name[:9] for name in await backend.models(Path())] == ["a", "b", "xxxxxxxxx"]
    await backend.aclose()


@pytest.mark.parametrize(
    "options", [{"api_key_env": "CANARY"}, {"api_key_command": python(f"print('{CANARY}')")}]
)
async def test_the_key_goes_to_the_server_and_nowhere_else(
    server: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    options: dict[str, Any],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("CANARY", CANARY)
    async with ChatServer() as other:
        server.elsewhere = other.origin
        for model in ("stream", "locked", "careless", "redirect", "streem", "failing"):
            result = await ask(server, tmp_path, model, **options)
            assert CANARY not in result.error + result.text
            assert bool(result.error) == (model != "stream")
        assert other.asked == []
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {CANARY}"}
    assert CANARY not in caplog.text


async def test_what_is_said_about_a_key_that_is_refused(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", CANARY)
    server.elsewhere = "http://127.0.0.1:1"
    result = await ask(server, tmp_path, "locked", api_key_env="CANARY")
    assert result.error == (
        f"{server.origin} (HTTP 401) does not let us in: check the environment variable CANARY; "
        "it says: wrong key: Bearer [key]"
    )
    result = await ask(server, tmp_path, "redirect", api_key_env="CANARY")
    assert result.error == (
        f"{server.origin} (HTTP 307) sends us on to http://127.0.0.1:1/v1/chat/completions#Bearer [key]: "
        "set base_url to the right address"
    )


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("", "set the environment variable CANARY to the key of the server"),
        ("a b", "the environment variable CANARY is no key: a key is one word of plain characters"),
        ("a\nX-Evil: 1", "the environment variable CANARY is no key: a key is one word of plain characters"),
    ],
)
async def test_a_variable_that_holds_no_key(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, error: str
) -> None:
    monkeypatch.setenv("CANARY", value)
    result = await ask(server, tmp_path, "stream", api_key_env="CANARY")
    assert result.error == error
    assert server.asked == []


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (
            ["no-such-program"],
            "no-such-program, which prints the key, does not start: No such file or directory",
        ),
        (["sh", "-c", f"echo {CANARY}; exit 3"], "sh printed no key, it failed: run it by hand to see why"),
        (["true"], "the key that true prints is no key: a key is one word of plain characters"),
        (["yes"], "yes printed no key, it failed: run it by hand to see why"),
    ],
)
async def test_a_program_that_prints_no_key(
    server: ChatServer, tmp_path: Path, command: list[str], error: str
) -> None:
    assert (await ask(server, tmp_path, "stream", api_key_command=command)).error == error
    assert server.asked == []


async def test_a_program_is_asked_for_the_key_once_and_again_when_the_key_was_refused(
    server: ChatServer, tmp_path: Path
) -> None:
    script = "open('count', 'a').write('x'); print('key')"
    backend = OpenAI(server.base_url, api_key_command=python(script))
    for model, times in (("stream", 1), ("stream", 1), ("locked", 1), ("stream", 2)):
        await answer(backend, request(tmp_path, model))
        assert (tmp_path / "count").read_text() == "x" * times
    await backend.aclose()


async def test_to_this_machine_no_proxy_is_used(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await ask(server, tmp_path, "stream")).text == "one two three "


async def test_without_the_library_the_way_to_get_it_is_told(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "teambot_tui.agents.backends.http", raising=False)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    result = await ask(server, tmp_path, "stream")
    assert result.error.endswith("pip install 'teambot-tui[http]'")


async def test_closing_twice_and_using_it_again(server: ChatServer, tmp_path: Path) -> None:
    backend = OpenAI(server.base_url)
    for _ in range(2):
        assert (await answer(backend, request(tmp_path, "stream"))).text
        await backend.aclose()
        await backend.aclose()


async def test_a_run_from_settings_to_events_keeps_the_key_to_itself(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"""
        backend = "server"
        [backends.server]
        type = "openai"
        base_url = "{server.base_url}"
        api_key_env = "CANARY"
        model = "stream"
        retries = 0
        [agents.ba]
        model = "careless"
    """)
    monkeypatch.setenv("TEAMBOT_CONFIG", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CANARY", CANARY)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "teambot_tui", "run", "--json", "--log-file", "log"),
        "@pm Plan\n@ba Check",
        cwd=tmp_path,
        stdout=PIPE,
        stderr=PIPE,
    )
    async with asyncio.timeout(2 * SAFETY):
        output, errors = await process.communicate()
    events = [json.loads(line) for line in output.splitlines()]
    assert [event["output"] for event in events if event["event"] == "task_completed"] == ["one two three "]
    assert [event["error"] for event in events if event["event"] == "task_failed"] == [
        "the server says: got Bearer [key]"
    ]
    assert process.returncode == 1
    assert CANARY.encode() not in output + errors + (tmp_path / "log").read_bytes()
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {CANARY}"}
