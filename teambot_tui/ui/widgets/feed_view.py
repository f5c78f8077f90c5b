"""Which rows are seen: the view hangs on a row of a block, or on the end.

No height but that of what is walked over is ever known, so it does not matter how much there is, and nothing
that happens above the view, or in it behind the row it hangs on, can move it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.ui.widgets.feed_block import Block

Spot: TypeAlias = tuple[int, int]
"""The number of a block, and of a row in it: for the moment, until anything changes."""


class View:
    """The blocks that can be seen, and the part of them that is."""

    def __init__(self, arrange: Callable[[Block], None]) -> None:
        self.blocks: list[Block] = []
        self.height = 0
        self.hook: tuple[Block, int] | None = None
        """The row at the top, by its place in its block; None to hang on the end."""
        self.rows: list[tuple[Block, int]] = []
        self.seen: frozenset[Block] = frozenset()
        self._arrange = arrange

    def show(self, blocks: list[Block]) -> None:
        """Show other blocks."""
        self.blocks = blocks
        for position, block in enumerate(blocks):
            block.position = position

    def add(self, block: Block) -> None:
        """Show one more block."""
        block.position = len(self.blocks)
        self.blocks.append(block)

    def compose(self) -> None:
        """Work out which rows are seen now."""
        rows: list[tuple[Block, int]] = []
        if self.blocks and self.height:
            number, index = self.top()
            while number < len(self.blocks) and len(rows) < self.height:
                block = self._block(number)
                until = min(block.height, index + self.height - len(rows))
                rows += ((block, row) for row in range(index, until))
                number, index = number + 1, 0
        self.rows = rows
        self.seen = frozenset(block for block, _ in rows)

    def walk(self, spot: Spot, rows: int) -> Spot:
        """Return where one comes to from a spot, so many rows down or up."""
        number, index = spot[0], spot[1] + rows
        while index < 0 and number > 0:
            number -= 1
            index += self._block(number).height
        if index < 0:
            return 0, 0
        while index >= (height := self._block(number).height):
            if number + 1 == len(self.blocks):
                return number, height - 1
            index -= height
            number += 1
        return number, index

    def end(self) -> Spot:
        """Return the top of the view that shows the end."""
        last = len(self.blocks) - 1
        return self.walk((last, self._block(last).height), -max(1, self.height))

    def top(self) -> Spot:
        """Return the top of the view."""
        end = self.end()
        if self.hook is None:
            return end
        block = self.hook[0]
        self._arrange(block)
        return min(end, (block.position, block.index(self.hook[1])))

    def hang_on(self, spot: Spot) -> None:
        """Let the view begin at a spot, whatever is added below."""
        block = self.blocks[spot[0]]
        self.hook = (block, block.place(spot[1]))

    def scroll_to(self, spot: Spot) -> None:
        """Let the view begin at a spot, or hang on the end if it shows the end."""
        if spot >= self.end():
            self.hook = None
        else:
            self.hang_on(spot)

    def keep(self, block: Block, change: Callable[[], None]) -> None:
        """Let a block change its height, but not the row at the top, or the block's first if that is gone."""
        self.hang_on(self.top())
        change()
        if self.hook is not None and self.hook[0] is block and block.is_folded:
            self.hang_on((block.position, 0))
        self.scroll_to(self.top())

    def bring_in(self, block: Block) -> None:
        """Scroll as little as shows the block, or its beginning."""
        top, height = self.top(), max(1, self.height)
        self._arrange(block)
        first, last = (block.position, 0), (block.position, block.height - 1)
        if first < top or block.height > height:
            self.scroll_to(first)
        elif last > self.walk(top, height - 1):
            self.scroll_to(self.walk(last, 1 - height))

    def _block(self, number: int) -> Block:
        block = self.blocks[number]
        self._arrange(block)
        return block
