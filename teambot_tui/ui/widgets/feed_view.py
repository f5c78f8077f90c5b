"""Which rows are seen: the view hangs on a row while somebody reads, and else it follows the work.

What executes is always in sight then: each such task gets a share of the height for the end of what it says,
and what stands between them gives way. No height but that of what is walked over is ever known, so it does
not matter how much there is.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.ui.widgets.feed_block import Block, Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Spot: TypeAlias = tuple[int, int]
"""The number of an item, and of a row in it: for the moment, until anything changes."""


def _order(item: Item) -> int:
    return item.order


class View:
    """The items that can be seen, and the part of them that is."""

    def __init__(self, arrange: Callable[[Item], None]) -> None:
        self.items: list[Item] = []
        """In their order."""
        self.live: list[Block] = []
        """Those that execute, in their order."""
        self.height = 0
        self.hook: tuple[Item, int] | None = None
        """The row at the top, by its place in its item; None to follow the work."""
        self.rows: list[tuple[Item, int]] = []
        self.seen: frozenset[Item] = frozenset()
        self._arrange = arrange

    def show(self, items: Iterable[Item]) -> None:
        """Show other items."""
        self.items = sorted(items, key=_order)
        self.live = [item for item in self.items if isinstance(item, Block) and item.is_live]

    def add(self, item: Item) -> None:
        """Show one more item, if it is not shown."""
        if item not in self:
            insort(self.items, item, key=_order)
        if isinstance(item, Block):
            self.note(item)

    def remove(self, block: Block) -> None:
        """Show a block no longer."""
        if block in self:
            del self.items[self.number(block)]
        if self.hook is not None and self.hook[0] is block:
            self.hook = (block.statement, 0)
        self.note(block)

    def note(self, block: Block) -> None:
        """Follow whether a block executes."""
        at = bisect_left(self.live, block.order, key=_order)
        is_here = at < len(self.live) and self.live[at] is block
        should = block.is_live and block in self
        if should and not is_here:
            self.live.insert(at, block)
        elif is_here and not should:
            del self.live[at]

    def number(self, item: Item) -> int:
        """Return where an item stands, or would."""
        return bisect_left(self.items, item.order, key=_order)

    def __contains__(self, item: Item) -> bool:
        at = self.number(item)
        return at < len(self.items) and self.items[at] is item

    # Which rows

    def compose(self) -> None:
        """Work out which rows are seen now."""
        rows: list[tuple[Item, int]] = []
        if self.items and self.height:
            rows = self._follow() if self.hook is None and self.live else self._from(self.top())
        self.rows = rows
        self.seen = frozenset(item for item, _ in rows)

    def _from(self, spot: Spot) -> list[tuple[Item, int]]:
        rows: list[tuple[Item, int]] = []
        number, index = spot
        while number < len(self.items) and len(rows) < self.height:
            item = self._item(number)
            until = min(item.height, index + self.height - len(rows))
            rows += ((item, row) for row in range(index, until))
            number, index = number + 1, 0
        return rows

    def _follow(self) -> list[tuple[Item, int]]:
        """Return the rows that show the work: what executes first, then what stands around it."""
        live = self.live[: self.height]
        for block in live:
            self._arrange(block)
        room = self.height
        heads: dict[Item, range] = {}
        # A row for each, then one of what it says, the newest first, then what was asked, then all the rest.
        for block in live:
            heads[block] = range(block.opening, block.opening + 1)
            room -= 1
        tails = dict.fromkeys(reversed(live), 0)
        room = _share(room, {block: min(1, block.shown) for block in live}, tails)
        asked = [each for each in dict.fromkeys(block.statement for block in live) if each in self]
        for statement in asked:
            self._arrange(statement)
            if room > 0:
                heads[statement] = range(statement.opening, statement.opening + 1)
                room -= 1
        items: list[Item] = [*live, *asked]
        for item in items:
            end = item.head_height if isinstance(item, Block) else item.height
            if item in heads and 0 < end - heads[item].stop <= room:
                room -= end - heads[item].stop
                heads[item] = range(item.opening, end)
        room = self._newest(heads, live, room)
        room = _share(room, {block: block.shown for block in live}, tails)
        room = self._airy(heads, room)
        rows = self._above(heads, room)
        for item in sorted(heads, key=_order):
            rows += ((item, index) for index in heads[item])
            if isinstance(item, Block) and (tail := tails.get(item)):
                end = item.head_height + item.shown
                rows += ((item, index) for index in range(end - tail, end))
        return rows

    def _newest(self, heads: dict[Item, range], live: list[Block], room: int) -> int:
        """Add what came last, in a part of the room, as long as what executes has more to say than fits."""
        needed = sum(block.shown for block in live)
        budget = max(room - needed, room // 3)
        first = self.number(live[0])
        number = len(self.items) - 1
        while number > first and budget > 0:
            item = self.items[number]
            number -= 1
            if item in heads:
                continue
            self._arrange(item)
            begin = item.opening
            end = item.height
            if isinstance(item, Block) and end - begin > budget:
                end = min(end, begin + 1)
            if end - begin > budget:
                break
            heads[item] = range(begin, end)
            budget -= end - begin
            room -= end - begin
        return room

    @staticmethod
    def _airy(heads: dict[Item, range], room: int) -> int:
        """Give the blank rows back as far as there is room."""
        for number, item in enumerate(sorted(heads, key=_order)):
            if number and room > 0 and item.opening and heads[item].start == 1:
                heads[item] = range(heads[item].stop)
                room -= 1
        return room

    def _above(self, heads: dict[Item, range], room: int) -> list[tuple[Item, int]]:
        """Return what stands above the first of these, as far as there is room."""
        first = min(heads, key=_order)
        number = self.number(first)
        rows: list[tuple[Item, int]] = []
        if room > 0 and first.opening and heads[first].start == 1 and number:
            heads[first] = range(heads[first].stop)
            room -= 1
        while number > 0 and room > 0:
            number -= 1
            item = self._item(number)
            begin = max(0, item.height - room)
            rows[:0] = [(item, index) for index in range(begin, item.height)]
            room -= item.height - begin
        return rows

    # Walking

    def walk(self, spot: Spot, rows: int) -> Spot:
        """Return where one comes to from a spot, so many rows down or up."""
        number, index = spot[0], spot[1] + rows
        while index < 0 and number > 0:
            number -= 1
            index += self._item(number).height
        if index < 0:
            return 0, 0
        while index >= (height := self._item(number).height):
            if number + 1 == len(self.items):
                return number, height - 1
            index -= height
            number += 1
        return number, index

    def end(self) -> Spot:
        """Return the top of the view that shows the end."""
        last = len(self.items) - 1
        return self.walk((last, self._item(last).height), -max(1, self.height))

    def top(self) -> Spot:
        """Return the top of the view; while it follows, of one that ends where that ends."""
        if self.hook is None:
            if not self.live or not self.rows or self.rows[-1][0] not in self:
                return self.end()
            item, index = self.rows[-1]
            self._arrange(item)
            return self.walk((self.number(item), min(index, item.height - 1) + 1), -max(1, self.height))
        item = self.hook[0]
        self._arrange(item)
        return min(self.end(), (self.number(item), item.index(self.hook[1])))

    def hang_on(self, spot: Spot) -> None:
        """Let the view begin at a spot, whatever is added below."""
        item = self._item(spot[0])
        self.hook = (item, item.place(spot[1]))

    def scroll_to(self, spot: Spot) -> None:
        """Let the view begin at a spot, or follow if it shows the end."""
        if spot >= self.end():
            self.hook = None
        else:
            self.hang_on(spot)

    def keep(self, block: Block, change: Callable[[], None]) -> None:
        """Let a block change its height, but not the row at the top, or the block's first if that is gone."""
        self.hang_on(self.top())
        change()
        if self.hook is not None and self.hook[0] is block and block.is_folded:
            self.hang_on((self.number(block), 0))
        self.scroll_to(self.top())

    def bring_in(self, item: Item) -> None:
        """Scroll as little as shows the item, or its beginning."""
        top, height = self.top(), max(1, self.height)
        self._arrange(item)
        number = self.number(item)
        first, last = (number, 0), (number, item.height - 1)
        if first < top or item.height > height:
            self.scroll_to(first)
        elif last > self.walk(top, height - 1):
            self.scroll_to(self.walk(last, 1 - height))

    def _item(self, number: int) -> Item:
        item = self.items[number]
        self._arrange(item)
        return item


def _share(room: int, wanted: dict[Block, int], given: dict[Block, int]) -> int:
    """Divide rows as evenly as they are wanted; return how many are left."""
    while room > 0:
        open_ = [block for block in given if given[block] < wanted[block]]
        if not open_:
            return room
        each = max(1, room // len(open_))
        for block in open_:
            more = min(each, wanted[block] - given[block], room)
            given[block] += more
            room -= more
    return room
