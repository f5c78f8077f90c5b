"""A real HTTP server on loopback; the name of the model says how well or badly it speaks the chat API."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

FLOOD = 10 * 1024 * 1024
_PIECE = 64 * 1024


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> list[tuple[str, str]]:
        return [(message["role"], message["content"]) for message in self.body["messages"]]

    def results(self) -> list[str]:
        """What tools returned since the person spoke last."""
        last = takewhile(lambda message: message["role"] != "user", reversed(self.body["messages"]))
        return [str(message["content"]) for message in last if message["role"] == "tool"][::-1]


def event(**choice: object) -> bytes:
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def said(text: object) -> bytes:
    return event(index=0, delta={"content": text}, finish_reason=None)


def finished(reason: str = "stop") -> bytes:
    return event(index=0, delta={}, finish_reason=reason)


def called(tool: str, arguments: object) -> bytes:
    """The call of a tool, its arguments in two pieces as models send them; a text is sent as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    head = {"index": 0, "id": f"call-{tool}", "type": "function"}
    return b"".join(
        event(index=0, delta={"role": "assistant", "tool_calls": [call]}, finish_reason=None)
        for call in (
            {**head, "function": {"name": tool, "arguments": text[:3]}},
            {"index": 0, "function": {"arguments": text[3:]}},
        )
    )


DONE = b"data: [DONE]\n\n"
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\n'


class Connection:
    """The server's end of one exchange."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    async def request(self) -> Asked | None:
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        asked = Asked(method, path, headers)
        if length := int(headers.get("content-length", 0)):
            asked.body = json.loads(await self.reader.readexactly(length))
        return asked

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, kind: str, **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def whole(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        await self.head(status, kind, Content_Length=str(len(body)), **headers)
        await self.send(body)

    async def error(self, status: int, message: str, **headers: str) -> None:
        await self.whole(status, json.dumps({"error": {"message": message}}).encode(), **headers)

    async def stream(self, *pieces: bytes) -> None:
        await self.head(200, "text/event-stream", Transfer_Encoding="chunked")
        await self.pieces(*pieces)
        await self.send(b"0\r\n\r\n")

    async def pieces(self, *pieces: bytes) -> None:
        for piece in pieces:
            await self.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


class ChatServer:
    """The server for the length of an `async with` block; what it was asked is kept in `asked`."""

    def __init__(self, go: asyncio.Event | None = None) -> None:
        self.asked: list[Asked] = []
        self.models: object = {"data": [{"id": "stream"}, {"id": "usage"}]}
        self.arrived = asyncio.Event()
        """There is a request in `asked`."""
        self.left = asyncio.Event()
        """Somebody closed a connection on which an answer was still to come."""
        self.go = go or asyncio.Event()
        """Lets the models that wait for the test go on."""
        self.elsewhere = ""
        self.calls: Sequence[tuple[str, dict[str, Any]]] = ()
        """What the model "tools" calls one after another before it says what the last one returned."""
        self.port = 0
        self._times: Counter[str] = Counter()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with suppress(ConnectionError):
                await self._serve(Connection(reader, writer))
        except asyncio.CancelledError:
            pass  # the server is closed; asyncio would report a cancelled handler
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, connection: Connection) -> None:
        asked = await connection.request()
        if asked is None:
            return
        self.asked.append(asked)
        self.arrived.set()
        if asked.path == "/v1/models":
            await connection.whole(200, json.dumps(self.models).encode())
        elif asked.path == "/v1/chat/completions":
            model = asked.body["model"]
            self._times[model] += 1
            await self._behaviour(model)(connection, asked)
        else:
            await connection.whole(404, b"<html>nothing here</html>", "text/html")

    def _behaviour(self, model: str) -> Callable[[Connection, Asked], Awaitable[None]]:
        unknown: Callable[[Connection, Asked], Awaitable[None]] = self._unknown
        return getattr(self, "_" + model.replace("-", "_"), unknown)

    def _again(self, model: str) -> bool:
        return self._times[model] > 1

    async def _unknown(self, connection: Connection, asked: Asked) -> None:
        await connection.error(404, f"no model {asked.body['model']}")

    async def _stream(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(*(said(f"{word} ") for word in ("one", "two", "three")), finished(), DONE)

    async def _numbers(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(*(said(f"{number}\n") for number in range(1000)), finished(), DONE)

    async def _echo(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said(asked.messages[-1][1]), finished(), DONE)

    async def _usage(self, connection: Connection, asked: Asked) -> None:
        assert asked.body["stream_options"] == {"include_usage": True}
        await connection.stream(said("ok"), finished(), USAGE, DONE)

    async def _cost(self, connection: Connection, asked: Asked) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": None, "cost": 0.25}
        await connection.stream(finished(), b"data: " + json.dumps({"usage": usage}).encode() + b"\n\n", DONE)

    async def _old(self, connection: Connection, asked: Asked) -> None:
        if "stream_options" in asked.body:
            await connection.error(400, "unknown field: stream_options")
        else:
            await self._stream(connection, asked)

    async def _reasoning(self, connection: Connection, asked: Asked) -> None:
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "ha"}]},
            {"type": "text", "text": "!"},
        ]
        await connection.stream(
            event(delta={"reasoning_content": "hm"}),
            event(delta={"reasoning": "so", "content": None}),
            said("yes"),
            said(parts),
            finished(),
            DONE,
        )

    async def _tools(self, connection: Connection, asked: Asked) -> None:
        """Call one tool after another, then say what the last one returned."""
        results = asked.results()
        if len(results) < len(self.calls):
            piece = called(*self.calls[len(results)])
            await connection.stream(piece, finished("tool_calls"), DONE)
        else:
            await connection.stream(said(results[-1]), finished(), DONE)

    async def _ask(self, connection: Connection, asked: Asked) -> None:
        """Call for a command that needs permission, and say that there was one."""
        call = called("bash", {"command": "rm -rf build", "description": "tidy"}) + finished("tool_calls")
        await connection.stream(said("allowed") + finished() if asked.results() else call, DONE)

    async def _wild(self, connection: Connection, asked: Asked) -> None:
        """Call a tool that nobody has, with half of its arguments, then the right one with the wrong ones."""
        steps = [
            called("no_such_tool\x1b[2J", '{"[/x]": "half'),
            called("bash", {"command": {"a": [1]}}),
            said("\x1b[2Jfi") + said("ne"),
        ]
        step = len(asked.results())
        reason = "tool_calls" if step < 2 else "stop"
        await connection.stream(b": ping\n\n", steps[step], finished(reason), DONE)

    async def _suicide(self, connection: Connection, asked: Asked) -> None:
        """Let whoever carries out the calls of tools kill itself."""
        call = called("bash", {"command": "kill -9 $PPID", "description": "leave"})
        await connection.stream(said("half"), call, finished("tool_calls"), DONE)

    async def _not_streamed(self, connection: Connection, asked: Asked) -> None:
        choice = {"message": {"role": "assistant", "content": "all at once"}, "finish_reason": "stop"}
        body = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 3}}
        await connection.whole(200, json.dumps(body).encode())

    async def _slow(self, connection: Connection, asked: Asked) -> None:
        """Say one word, then nothing until the test says go or the client is gone."""
        await connection.head(200, "text/event-stream", Transfer_Encoding="chunked")
        await connection.pieces(said("one "))
        await self._until_told(connection)
        await connection.pieces(said("two"), finished(), DONE)
        await connection.send(b"0\r\n\r\n")

    async def _hang(self, connection: Connection, asked: Asked) -> None:
        await connection.head(200, "text/event-stream", Transfer_Encoding="chunked")
        await connection.pieces(said("ready"))
        await self._until_told(connection)

    async def _never(self, connection: Connection, asked: Asked) -> None:
        await self._until_told(connection)

    async def _until_told(self, connection: Connection) -> None:
        told = asyncio.create_task(self.go.wait())
        gone = asyncio.create_task(connection.reader.read())
        try:
            await asyncio.wait([told, gone], return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                self.left.set()
        finally:
            told.cancel()
            gone.cancel()
            await asyncio.gather(told, gone, return_exceptions=True)

    async def _busy(self, connection: Connection, asked: Asked) -> None:
        if self._again("busy"):
            await self._stream(connection, asked)
        else:
            await connection.error(429, "slow down", Retry_After="7")

    async def _failing_once(self, connection: Connection, asked: Asked) -> None:
        if self._again("failing-once"):
            await self._stream(connection, asked)
        else:
            await connection.whole(500, b"oops", "text/plain")

    async def _hung_up_once(self, connection: Connection, asked: Asked) -> None:
        if self._again("hung-up-once"):
            await self._stream(connection, asked)

    async def _failing(self, connection: Connection, asked: Asked) -> None:
        await connection.error(503, "out of order")

    async def _patient(self, connection: Connection, asked: Asked) -> None:
        await connection.error(429, "come back tomorrow", Retry_After="86400")

    async def _error_at_once(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(b'data: {"error": {"message": "[/x] bad \\u001b[31mluck", "code": 502}}\n\n')

    async def _error_midway(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(
            said("one"), b'data: {"error": {"message": "out of memory"}}\n\n', said("two")
        )

    async def _ideas(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said("half"), b'data: {"error": "out of ideas"}\n\n')

    async def _garbage(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said("one"), b"data: {]\n\n", said("two"), DONE)

    async def _nonsense(self, connection: Connection, asked: Asked) -> None:
        """Odd events around the answer, all of which can be passed over."""
        choices: list[object] = [None, [], 7, [7], [{"delta": 7}], [{"delta": {"content": {"a": 1}}}]]
        odd = [b"data: " + json.dumps({"choices": choice}).encode() + b"\n\n" for choice in choices]
        await connection.stream(b": ping\n\nevent: x\nid: 1\n\n", *odd, said("fine"), finished(), DONE)

    async def _page(self, connection: Connection, asked: Asked) -> None:
        await connection.whole(200, b"<html>Welcome</html>", "text/html; charset=utf-8")

    async def _bytes(self, connection: Connection, asked: Asked) -> None:
        await connection.whole(200, bytes(range(256)), "application/octet-stream")

    async def _compressed(self, connection: Connection, asked: Asked) -> None:
        assert asked.headers["accept-encoding"] == "identity"
        await connection.whole(200, b"\x1f\x8b", "text/event-stream", Content_Encoding="gzip")

    async def _cut(self, connection: Connection, asked: Asked) -> None:
        """Break off in the middle of a chunk."""
        await connection.head(200, "text/event-stream", Transfer_Encoding="chunked")
        await connection.pieces(said("one"))
        await connection.send(b"ff\r\nhalf")

    async def _death(self, connection: Connection, asked: Asked) -> None:
        await connection.head(200, "text/event-stream", Transfer_Encoding="chunked")
        await connection.pieces(said("half"))

    async def _unfinished(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said("one"))

    async def _no_done(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said("one"), finished().rstrip(b"\n"))

    async def _length(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(said("half"), finished("length"), USAGE, DONE)

    async def _filtered(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(finished("content_filter"), DONE)

    async def _flood(self, connection: Connection, asked: Asked) -> None:
        piece = said("x" * _PIECE)
        await connection.stream(*[piece] * (FLOOD // _PIECE), finished(), DONE)

    async def _endless_line(self, connection: Connection, asked: Asked) -> None:
        await connection.stream(b"data: ", *[b"x" * _PIECE] * (FLOOD // _PIECE))

    async def _one_byte(self, connection: Connection, asked: Asked) -> None:
        raw = json.dumps({"choices": [{"delta": {"content": "ü€😀"}}]}, ensure_ascii=False).encode()
        answer = (b"data: " + raw + b"\n\n" + finished() + DONE).replace(b"\n", b"\r\n")
        await connection.stream(*(answer[at : at + 1] for at in range(len(answer))))

    async def _redirect(self, connection: Connection, asked: Asked) -> None:
        await connection.whole(
            307,
            b"",
            Location=f"{self.elsewhere}/v1/chat/completions#{asked.headers.get('authorization', '')}",
        )

    async def _locked(self, connection: Connection, asked: Asked) -> None:
        """Refuse the key, and be careless enough to repeat it."""
        await connection.error(401, f"wrong key: {asked.headers.get('authorization', 'none')}")

    async def _careless(self, connection: Connection, asked: Asked) -> None:
        error = {"error": f"got {asked.headers['authorization']}"}
        await connection.stream(b"data: " + json.dumps(error).encode() + b"\n\n")
