"""Events come out the same however the bytes are cut."""

from __future__ import annotations

import pytest

from teambot_tui.agents.backends.chat_api import EVENT_LIMIT, Events
from teambot_tui.engine.ports import BackendError

CASES = [
    (b"", []),
    (b"data: a\n\n", ["a"]),
    (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
    (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
    (b"data: a\ndata: b\n\n", ["a\nb"]),
    (b"data\n\n", [""]),
    (b": ping\n\nevent: x\nid: 1\nretry: 5\nnonsense\n\n", []),
    (b"event: x\ndata: a\n: ping\ndata: b\n\n", ["a\nb"]),
    (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
    ("data: ü€😀\n\n".encode(), ["ü€😀"]),
    (b"data: \xff\xe2\x82\n\n", ["\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"]),
    ("data: a\u2028b\x0bc\x85d\n\n".encode(), ["a\u2028b\x0bc\x85d"]),
    (b"data: a\n\ndata: [DONE]", ["a", "[DONE]"]),
    (b"data: a\n\ndata: b\n", ["a", "b"]),
    (b"\n\r\n\r\r\n", []),
]


def read(*pieces: bytes) -> list[str]:
    events = Events()
    return [data for piece in pieces for data in events.feed(piece)] + list(events.finish())


@pytest.mark.parametrize(("stream", "events"), CASES)
def test_an_event_may_be_cut_anywhere(stream: bytes, events: list[str]) -> None:
    assert read(stream) == events
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == events
    for at in range(len(stream) + 1):
        assert read(stream[:at], b"", stream[at:]) == events


@pytest.mark.parametrize("line", [b"data: ", b"data: a\ndata: ", b": ", b""])
def test_no_event_is_longer_than_the_limit(line: bytes) -> None:
    with pytest.raises(BackendError, match="more than 1024 KiB"):
        read(line, *[b"x" * 1024] * (EVENT_LIMIT // 1024 + 1))


def test_many_lines_without_an_end_are_one_event_and_many_events_are_not() -> None:
    line = b"data: " + b"x" * 1024 + b"\n"
    with pytest.raises(BackendError):
        read(*[line] * 1024)
    assert len(read(*[line + b"\n"] * 2048)) == 2048
    assert read(*[b":" + b"x" * 1024 + b"\n"] * 2048) == []
