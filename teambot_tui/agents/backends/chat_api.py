"""The shapes of the chat API, read leniently: what a server leaves out or adds does not matter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from teambot_tui.engine.ports import BackendError, Text, Thought, Usage
from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teambot_tui.agents.backends.conversation import Message
    from teambot_tui.engine.ports import Update

DONE: Final = "[DONE]"
_MOST_TOKENS: Final = 2**53
_MOST_DOLLARS: Final = 1e9
_MOST_MODELS: Final = 1000
_LONGEST_NAME: Final = 200
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one event brings, and why the answer ends with it, if it does."""

    updates: tuple[Update, ...]
    finish: str = ""


def body(model: str, messages: list[Message], *, usage: bool) -> bytes:
    """Return the request for a streamed answer, with a question mark for what no encoding knows."""
    wish: dict[str, Any] = {"model": model, "messages": messages, "stream": True}
    if usage:
        wish["stream_options"] = {"include_usage": True}
    return json.dumps(wish, ensure_ascii=False).encode("utf-8", "replace")


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
