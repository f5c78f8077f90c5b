"""Finding a text in what the agents said, and showing only what speaks of it: literally, in any case."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.widgets.feed_block import Block, Statement
    from teambot_tui.ui.widgets.feed_text import Output


class Search:
    """What is looked for, and the match at hand."""

    def __init__(self, needle: str) -> None:
        self.length = len(needle)
        self.at: tuple[Block, int] | None = None
        self._pattern = re.compile(re.escape(needle), re.IGNORECASE)
        self._found: dict[Block, tuple[tuple[Output, int, int], list[int]]] = {}

    def matches(self, block: Block) -> list[int]:
        """Return where in a block's text the matches begin."""
        output = block.output
        version = (output, output.missing, output.size)
        known = self._found.get(block)
        if known is None or known[0] != version:
            found = [match.start() + output.missing for match in self._pattern.finditer(output.text)]
            known = self._found[block] = (version, found)
        return known[1]

    def count(self, blocks: Sequence[Block]) -> tuple[int, int]:
        """Return which match is at hand, counted from 1 or 0 for none, and how many there are."""
        place = every = 0
        for block in blocks:
            found = self.matches(block)
            if self.at is not None and self.at[0] is block:
                place = every + bisect_right(found, self.at[1])
            every += len(found)
        return place, every

    def is_about(self, block: Block) -> bool:
        """Tell whether a block's output or its words have the text."""
        return bool(self._pattern.search(block.view.statement)) or bool(self.matches(block))

    def is_asked(self, statement: Statement) -> bool:
        """Tell whether a statement has the text."""
        return bool(self._pattern.search(statement.view.statement))

    def within(self, block: Block, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Return the parts of matches between two positions, and whether each is of the match at hand."""
        found = self.matches(block)
        for match in found[bisect_right(found, start - self.length) : bisect_left(found, end)]:
            yield max(match, start), min(match + self.length, end), self.at == (block, match)

    def move(self, blocks: Sequence[Block], start: tuple[int, int], direction: int) -> Block | None:
        """Go to the next match after a block's position, around the end if need be; return its block."""
        number, position = start
        if self.at is not None:
            number = bisect_left(blocks, self.at[0].order, key=lambda block: block.order)
            position = self.at[1] + (direction > 0)
        count = len(blocks)
        for step in range(count + 1):
            block = blocks[(number + step * direction) % count]
            found = self.matches(block)
            if step == 0:
                split = bisect_left(found, position)
                found = found[split:] if direction > 0 else found[:split]
            if found:
                self.at = (block, found[0] if direction > 0 else found[-1])
                return block
        return None


class Sieve:
    """Which items are shown: everyone's or an agent's, and of those the ones about something."""

    def __init__(self) -> None:
        self.agent: AgentId | None = None
        self.about: Search | None = None

    def lets_through(self, block: Block) -> bool:
        """Tell whether a block is shown."""
        if self.agent not in (None, block.view.agent):
            return False
        return self.about is None or self.about.is_about(block)

    def lets_through_task(self, view: TaskView, statement: Statement) -> bool:
        """Tell whether a task is reason enough to show its statement."""
        if self.agent not in (None, view.agent):
            return False
        return self.about is None or self.about.is_asked(statement)
