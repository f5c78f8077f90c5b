"""Bytes become lines, whatever their length: each byte is looked at once, and a line has a limit."""

from __future__ import annotations

from typing import Final

LONGEST_LINE: Final = 16 * 1024 * 1024


class Lines:
    """Cuts a stream of bytes into lines; one that is longer than the limit is left out as a whole."""

    def __init__(self, limit: int = LONGEST_LINE) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete now."""
        *ended, rest = data.split(b"\n")
        lines: list[str] = []
        for piece in ended:
            self._keep(piece)
            lines += self.finish()
        self._keep(rest)
        return lines

    def finish(self) -> list[str]:
        """Return what came after the last newline, if it is a line."""
        line = b"".join(self._pieces) if self._length <= self._limit else b""
        self._pieces.clear()
        self._length = 0
        return [line.decode("utf-8", "replace")] if line.strip() else []

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._limit:
            self._pieces.clear()
        else:
            self._pieces.append(piece)
