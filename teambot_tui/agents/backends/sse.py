"""Server-sent events, as bytes arrive: an event may be cut anywhere and is never longer than a limit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT: Final = 1024 * 1024
"""The most bytes that one event may have."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


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
            BackendError: an event is longer than `LIMIT`.
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
        if self._size > LIMIT:
            raise BackendError(f"the server sent an event of more than {LIMIT // 1024} KiB")
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
