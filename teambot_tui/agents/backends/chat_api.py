"""The chat API: what is sent, what comes back event by event, and what a refusal means.

Shapes are read leniently: what a server leaves out or adds does not matter. An event may be cut anywhere and
is never longer than a limit.
"""

from __future__ import annotations

import json
import random
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.engine.ports import BackendError, Text, Thought, Usage
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teambot_tui.agents.backends.conversation import Message
    from teambot_tui.agents.backends.http import Response
    from teambot_tui.engine.ports import Update

DONE: Final = "[DONE]"
_MOST_TOKENS: Final = 2**53
_MOST_DOLLARS: Final = 1e9
_MOST_MODELS: Final = 1000
_LONGEST_NAME: Final = 200
_SHOWN: Final = 80
EVENT_LIMIT: Final = 1024 * 1024
"""The most bytes that one event may have."""
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
WRONG_PLACE: Final = "is base_url right? It usually ends in /v1"
_SHOWN_MODELS: Final = 20
_FIRST_WAIT: Final = 0.5  # seconds
_LONGEST_WAIT: Final = 60.0  # seconds; a server that wants more is told to the user instead


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one event brings, and why the answer ends with it, if it does."""

    updates: tuple[Update, ...]
    finish: str = ""


def body(model: str, messages: list[Message], *, usage: bool) -> bytes:
    """Return the request for a streamed answer, with a question mark for what no encoding knows."""
    request: dict[str, Any] = {"model": model, "messages": messages, "stream": True}
    if usage:
        request["stream_options"] = {"include_usage": True}
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")


def read_chunk(data: str) -> Chunk:
    """Understand an event, or a whole answer from a server that does not stream.

    Raises:
        BackendError: it is no JSON object, or the server says what went wrong.
    """
    event = _json_object(data)
    if event is None:
        raise BackendError(f"the server sent something that is no JSON object: {one_line(data, _SHOWN)}")
    if error := error_message(event):
        raise BackendError(f"the server says: {error}")
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    finish = choice.get("finish_reason")
    updates = (*_words(choice.get("delta") or choice.get("message")), *_usage(event.get("usage")))
    return Chunk(updates, finish if isinstance(finish, str) else "")


def error_message(event: object) -> str:
    """Return what a server says went wrong, in any of the shapes that servers use; nothing if nothing did."""
    match event:
        case {"error": {"message": str(message)}} | {"error": str(message)} if message.strip():
            return one_line(message)
        case {"error": {} as error} if error:
            return one_line(json.dumps(error))
        case {"object": "error", "message": str(message)} | {"detail": str(message)}:
            return one_line(message)
        case _:
            return ""


def told_in(content: str) -> str:
    """Return what the body of a failed request says, if it is JSON that says something."""
    return error_message(_json_object(content))


def read_models(content: str) -> tuple[str, ...] | None:
    """Return the names in a list of models, or nothing if it is none."""
    match _json_object(content):
        case {"data": list(entries)} | {"models": list(entries)}:
            names = (_name(entry) for entry in entries[:_MOST_MODELS])
            return tuple(dict.fromkeys(name for name in names if name))
        case _:
            return None


def _name(entry: object) -> str:
    match entry:
        case {"id": str(name)} | {"name": str(name)}:
            return one_line(name, _LONGEST_NAME)
        case _:
            return ""


def _json_object(data: str) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _words(delta: object) -> Iterator[Update]:
    if not isinstance(delta, dict):
        return
    for key in ("reasoning_content", "reasoning"):
        if text := _text(delta.get(key)):
            yield Thought(text)
            break
    content = delta.get("content")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and part.get("type") == "thinking":
            if text := _text(part.get("thinking")):
                yield Thought(text)
        elif text := _text(part.get("text") if isinstance(part, dict) else part):
            yield Text(text)
    if text := _text(delta.get("refusal")):
        yield Text(text)


def _text(value: object) -> str:
    if isinstance(value, list):  # thoughts may come in parts as well
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _usage(usage: object) -> Iterator[Usage]:
    if isinstance(usage, dict):
        yield Usage(
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            _dollars(usage.get("cost")),
        )


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= _MOST_DOLLARS else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0


class Events:
    """Turns pieces of a stream into the data of its events; comments and other fields are passed over.

    Lines are decoded only when they are whole, so no character is ever cut.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._after_return = False
        self._first = True

    def feed(self, piece: bytes) -> Iterator[str]:
        """Return the data of every event that this piece completes.

        Raises:
            BackendError: an event is longer than `EVENT_LIMIT`.
        """
        if not piece:
            return
        begin = 1 if self._after_return and piece.startswith(b"\n") else 0
        self._after_return = piece.endswith(b"\r")
        for end in _LINE_END.finditer(piece, begin):
            self._keep(piece[begin : end.start()])
            begin = end.end()
            yield from self._end_line()
        self._keep(piece[begin:])

    def finish(self) -> Iterator[str]:
        """Return the data of a last event that no empty line follows; some servers forget it."""
        yield from self._end_line()
        yield from self._end_line()

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > EVENT_LIMIT:
            raise BackendError(f"the server sent an event of more than {EVENT_LIMIT // 1024} KiB")
        if part:
            self._line.append(part)

    def _end_line(self) -> Iterator[str]:
        line = b"".join(self._line)
        self._line.clear()
        if self._first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._first = False
        if not line:
            self._size = 0
            if self._data:
                data = b"\n".join(self._data)
                self._data.clear()
                yield data.decode("utf-8", "replace")
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        else:
            self._size -= len(line)


def refusal(response: Response, content: str, key_origin: str) -> BackendError:
    """Return the error for a status, with what the server says itself; one that may pass if it may.

    `key_origin` says where the key came from that was sent, and is empty if none was.
    """
    status = response.status
    where = f"{response.origin} (HTTP {status})"
    told = told_in(content)
    said = f"; it says: {told}" if told else ""
    if status == 429 or status >= 500:
        after = retry_after(response.header("retry-after"))
        asks = f" and asks to wait {after:.0f} s" if after else ""
        return TransientError(f"{where} {'is busy' if status == 429 else 'failed'}{asks}{said}", after)
    if status in (401, 403):
        fix = f"check {key_origin}" if key_origin else "set api_key_env to the variable that holds its key"
        return BackendError(f"{where} does not let us in: {fix}{said}")
    if 300 <= status < 400:
        target = one_line(response.header("location"), 200) or "nowhere"
        return BackendError(f"{where} sends us on to {target}: set base_url to the right address")
    if content.lstrip().startswith("<"):
        return BackendError(f"{where} answers with a web page: {WRONG_PLACE}")
    if status in (404, 405) and not told:
        return BackendError(f"{where} has no chat API there: {WRONG_PLACE}")
    return BackendError(f"{where} refuses the request{said}")


def unknown_model(name: str, where: str, offered: Sequence[str]) -> BackendError:
    """Return the error for a model that the server does not have, with those it has."""
    shown = one_line(name, 80)
    near = did_you_mean(shown, offered)
    hint = f" Did you mean {near}?" if near else ""
    return BackendError(f"unknown model {shown}.{hint} {offer(where, offered)}")


def offer(where: str, offered: Sequence[str]) -> str:
    """Say which models there are, not more than one can read."""
    if not offered:
        return f"{where} offers no model"
    more = f" and {len(offered) - _SHOWN_MODELS} more" if len(offered) > _SHOWN_MODELS else ""
    return f"{where} offers: {', '.join(offered[:_SHOWN_MODELS])}{more}"


class TransientError(BackendError):
    """A failure after which another attempt may help; `after` is how long the server asks to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after

    def wait(self, attempt: int) -> float | None:
        """Return the seconds to wait after that attempt, counted from 0; none if they would be too many."""
        if self.after is not None:
            return self.after if self.after <= _LONGEST_WAIT else None
        # Agents that were turned away together must not come back together.
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt)
        return random.uniform(longest / 2, longest)  # noqa: S311  not a secret


def retry_after(header: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or until a date."""
    if header.strip().isdecimal():
        return float(header[:12])
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
