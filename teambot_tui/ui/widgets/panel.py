"""One agent at a glance: a card with a frame where it is alive and there is room, else one line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from teambot_tui.engine.states import STATES, Role, agent_state, role_of
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.glyphs import Glyphs, duration, roughly, style_of, used
from teambot_tui.ui.keys import bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from teambot_tui.engine.ids import AgentId
    from teambot_tui.engine.views import AgentView

Shape = Literal["card", "line", "chip"]

CARD: Final = 4
"""The rows of a card."""
_CHIP: Final = 26
_NARROWEST_CHIP: Final = 20
_SHORTEST_NAME: Final = 4
_FLOW: Final = 8
"""The rows that are kept for the tree below, before one who only waits gets a card."""
_FRAME: Final = ("╭", "─", "╮", "│", "╰", "╯")
_HEAVY: Final = ("┏", "━", "┓", "┃", "┗", "┛")


class Panel(Widget, can_focus=True):
    """Shows an agent's view; a click or Enter asks to inspect it, a double click to zoom."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bound("left", "move(-1, 0)"),
        bound("right", "move(1, 0)"),
        bound("up", "move(0, -1)"),
        bound("down", "move(0, 1)"),
        bound("inspect", "inspect"),
    ]

    class Chosen(Message):
        """The user wants to read what this agent does."""

        def __init__(self, agent: AgentId, *, zoom: bool = False) -> None:
            super().__init__()
            self.agent = agent
            self.zoom = zoom

    class Moved(Message):
        """The user wants to go to the panel beside this one, or below."""

        def __init__(self, panel: Panel, across: int, down: int) -> None:
            super().__init__()
            self.panel = panel
            self.across = across
            self.down = down

    def __init__(self, view: AgentView, number: int, runs_on: str, glyphs: Glyphs) -> None:
        super().__init__(id=f"panel-{view.agent}", classes="panel -chip")
        self.view = view
        self.number = number
        self.wall_clock_ahead = 0.0
        """How many seconds the wall clock is ahead of the session's."""
        self._shape: Shape = "chip"
        self._runs_on = runs_on
        self._glyphs = glyphs
        self._now = view.since

    # What is shown

    @property
    def state(self) -> str:
        """The state in which the agent is shown, by its name in the table of states."""
        return agent_state(self.view, self._now)

    @property
    def runs_on(self) -> str:
        """The model, or else the backend."""
        return self.view.model or self._runs_on

    @property
    def rank(self) -> int:
        """How much it belongs into sight: whoever works or needs the person, then who waits or failed."""
        role = role_of(self.state)
        if role in (Role.WORK, Role.YOU) or self.state == "silent":
            return 0
        return 1 if role in (Role.WAIT, Role.FAIL) else 2

    @property
    def badge(self) -> str:
        """The state in words, as it is shown with its glyph: `◷ waiting for @pm, @ba`."""
        view, state = self.view, self.state
        words = STATES[state].word
        if state == "waiting":
            without = " (no output yet)" if view.no_output_yet else ""
            words = f"{words} for {', '.join(f'@{agent}' for agent in view.waiting_for)}{without}"
        elif state == "queued":
            words = f"{words} {view.queued + 1}"
        elif more := self._more:
            words = f"{STATES[state].short} {more}"
        elif STATES[state].is_final:
            idle = STATES["idle"].word
            return f"{self._glyphs['idle']} {idle} {self._glyphs[state]} {words}"
        return f"{self._glyphs[state]} {words}"

    @property
    def _more(self) -> str:
        """What belongs to the state's word: how long, or until when."""
        view, state = self.view, self.state
        if state == "silent":
            return roughly(self._now - view.last_activity)
        if state == "delayed" and view.until is not None:
            return time.strftime("%H:%M", time.localtime(view.until + self.wall_clock_ahead))
        return ""

    def run_on(self, backend: str) -> None:
        """Say that the agent runs on something else from now on."""
        self._runs_on = backend
        self.refresh()

    def show(self, view: AgentView, now: float) -> None:
        """Show what the agent is doing now."""
        if view != self.view or view.state != "idle":
            self.refresh()
        self.view = view
        self._now = now

    def renumber(self, number: int) -> None:
        """Take another place in the team."""
        if number != self.number:
            self.number = number
            self.refresh()

    def take(self, shape: Shape) -> None:
        """Be a card, a line of the column, or a chip among others."""
        if shape != self._shape:
            self.remove_class(f"-{self._shape}", update=False)
            self.add_class(f"-{shape}")
            self._shape = shape
            self.refresh()

    def mark(self, *, chosen: bool) -> None:
        """Show whether this is the one the keys act on."""
        if chosen != self.has_class("-chosen"):
            self.set_class(chosen, "-chosen")
            self.refresh()

    # How it is drawn

    def render(self) -> Content:
        if self._shape == "card":
            return self._card()
        return self._line()

    def _card(self) -> Content:
        """Draw who works on what, the words it was given, its last line, and what it has used."""
        view, state, glyphs, width = self.view, self.state, self._glyphs, self.size.width
        corner, level, right, side, bottom, end = _HEAVY if self.has_class("-chosen") else _FRAME
        look = style_of(state)
        inner = max(0, width - 4)
        now = f" {self._brief(with_word=state not in ('executing', 'waiting'))} "
        if inner - len(now) < _SHORTEST_NAME:
            now = f" {glyphs[state]} "
        who = self._who(max(0, inner - len(now)))
        rest = max(0, width - 4 - who.cell_length - len(now))
        used_up = used(view.usage, glyphs)
        spent = f" {used_up} " if used_up else ""
        more = f" {glyphs['queued']}{view.queued} " if view.queued > 0 else ""
        live, is_live = self._live()
        mark = f"{glyphs['bar']}" if is_live else ""
        text = clip(live, inner - len(mark), glyphs["ellipsis"])
        words = clip(view.words, inner, glyphs["ellipsis"])
        edge = Content(side).stylize(look)
        return Content("\n").join(
            (
                Content(f"{corner} ").stylize(look)
                + who
                + Content(f" {level * rest}").stylize(look)
                + Content(now).stylize(f"bold {look}")
                + Content(right).stylize(look),
                edge + Content(" ") + _fill(Content(words), inner) + Content(" ") + edge,
                edge
                + Content(" ")
                + _fill(
                    Content(mark).stylize(look) + Content(text).stylize("$quiet" if is_live else look),
                    inner,
                )
                + Content(" ")
                + edge,
                Content(f"{bottom}{level}").stylize(look)
                + Content(more).stylize("$quiet")
                + Content(level * max(0, width - 4 - len(more) - len(spent))).stylize(look)
                + Content(spent).stylize("$quiet")
                + Content(f"{level}{end}").stylize(look),
            )
        )

    def _who(self, room: int) -> Content:
        """Say who it is, and on what it runs, as far as there is room."""
        view, glyphs = self.view, self._glyphs
        number = f"{self.number} "
        name = clip(view.name, max(1, room - len(number)), glyphs["ellipsis"])
        who = Content(number).stylize("$quiet") + Content(name).stylize("bold $strong")
        runs_on = self.runs_on
        parent = f" {glyphs['from']} {view.parent}" if view.parent is not None else ""
        more = f"{parent} {glyphs['dot']} {runs_on}" if runs_on else parent
        return who + Content(_clip_end(more, room - who.cell_length, glyphs["ellipsis"])).stylize("$quiet")

    def _live(self) -> tuple[str, bool]:
        """Return the last thing to be known of it, and whether it comes from the agent."""
        view = self.view
        if view.tool and self.state != "waiting":
            return f"{self._glyphs['asking' if view.requests else 'tool']} {view.tool}", True
        if self.state in ("waiting", "delayed") or not view.last_line.strip():
            return self.badge, False
        return view.last_line, True

    def _brief(self, *, with_word: bool) -> str:
        """Say the state in as few words as it takes, and for how long: `● exec 1:12`, `◷ 0:31`."""
        state = self.state
        words = (STATES[state].short, self._more) if with_word else (self._more,)
        return " ".join((self._glyphs[state], *filter(None, (*words, self._elapsed()))))

    def _line(self) -> Content:
        """Draw one line: number, name and state; and what else there is room for."""
        view, state, glyphs = self.view, self.state, self._glyphs
        in_column = not self.has_class("-chip")
        width = self.size.width
        look = style_of(state)
        is_over = role_of(state) is Role.QUIET or STATES[state].is_final
        words = "" if in_column and is_over and state != "queued" else STATES[state].short
        if state == "waiting":
            words = f"@{','.join(view.waiting_for)}"
        elif state == "queued":
            words = f"{words} {view.queued + 1}"
        elif self._more:
            words = f"{words} {self._more}"
        number = f"{self.number} "
        taken = len(f"{number} {glyphs[state]} {words}".rstrip())
        room = width - taken
        if room < _SHORTEST_NAME:  # the state's glyph stays, whatever else goes
            words = clip(words, max(0, len(words) + room - _SHORTEST_NAME), glyphs["ellipsis"])
            room = _SHORTEST_NAME
        name = clip(view.tab, room, glyphs["ellipsis"])
        content = (
            Content(number).stylize("$quiet")
            + Content(f"{name:{min(11 - len(number), room)}} ").stylize(
                "$quiet" if self.rank == 2 and in_column else ""
            )
            + Content(f"{glyphs[state]} {words}".rstrip()).stylize(f"bold {look}" if self.rank < 2 else look)
        )
        more = [self._elapsed()]
        if in_column and view.queued > 0 and state != "queued":
            more.append(f"{glyphs['queued']}{view.queued}")
        more.append(used(view.usage, glyphs))
        for each in more:
            if each and content.cell_length + len(each) < width:
                content += Content(f" {each}").stylize("$quiet")
        return content

    def _elapsed(self) -> str:
        view = self.view
        if view.state == "idle":
            return duration(view.last_seconds) if view.last_end and view.last_seconds else ""
        if self.state == "delayed":
            return ""
        return duration(self._now - view.since) if view.since else ""

    # What one can do

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Chosen(self.view.agent, zoom=event.chain > 1))

    def action_move(self, across: int, down: int) -> None:
        """Ask to go to another panel."""
        self.post_message(self.Moved(self, across, down))

    def action_inspect(self) -> None:
        """Ask to read what the agent does."""
        self.post_message(self.Chosen(self.view.agent))


def _fill(content: Content, width: int) -> Content:
    return content + Content(" " * max(0, width - content.cell_length))


def _clip_end(text: str, width: int, ellipsis: str) -> str:
    """Return a text with its leading blank, or nothing where it would say nothing."""
    return f" {clip(text, width - 1, ellipsis)}" if text and width > len(ellipsis) + 3 else ""


class PanelColumn(Vertical):
    """Gives every panel its shape and place: whoever works is in sight, cards go as far as there is room.

    Where there is no room for a column, all are chips. The team's order is kept among those who are alike.
    """

    def __init__(self, panels: Iterable[Panel]) -> None:
        super().__init__(id="left")
        self._first = tuple(panels)

    def compose(self) -> ComposeResult:
        with Container(id="panels"):
            yield from self._first

    def on_mount(self) -> None:
        self.place_panels()

    def on_resize(self) -> None:
        self.place_panels()

    def place_panels(self) -> None:
        """Give the panels shapes and places."""
        grid = self.query_one("#panels", Container)
        panels = sorted(grid.query(Panel), key=lambda panel: panel.number)
        is_column = self.screen.has_class("-tall") and not self.screen.has_class("-narrow")
        size = self.app.size
        if is_column:
            ranked = sorted(panels, key=lambda panel: panel.rank)
            rows = self._shape_column(ranked, self.size.height or max(1, size.height - 6))
            columns, most = 2, self.size.height or size.height
        else:
            width = self.size.width or size.width
            columns = max(1, width // _CHIP, 2 if width >= 2 * _NARROWEST_CHIP else 1)
            most = max(2, size.height // 4)
            fits = len(panels) <= columns * most
            ranked = list(panels) if fits else sorted(panels, key=lambda panel: panel.rank)
            for panel in ranked:
                panel.take("chip")
            rows = [1] * -(-len(panels) // columns)
        grid.styles.grid_size_columns = columns
        grid.styles.grid_rows = " ".join(map(str, rows or [1]))
        grid.styles.height = min(sum(rows), most)
        places = {panel: place for place, panel in enumerate(ranked)}
        if [panel for panel in grid.children if isinstance(panel, Panel)] != ranked:
            grid.sort_children(key=lambda panel: places.get(panel, len(places)))  # type: ignore[call-overload]

    def _shape_column(self, ranked: Sequence[Panel], height: int) -> list[int]:
        """Make cards and lines of the panels; return the heights of the rows."""
        alive = [panel for panel in ranked if panel.rank < 2]
        idle = [panel for panel in ranked if panel.rank == 2]
        lines_of_idle = len(idle)
        wanted = sum(CARD if panel.rank == 0 else 1 for panel in alive)
        if wanted + len(idle) > height - _FLOW:
            lines_of_idle = -(-len(idle) // 2)
        crowded = len(alive) + lines_of_idle > height
        room = height - len(alive) - lines_of_idle
        rows = []
        for panel in alive:
            spare = 0 if panel.rank == 0 else _FLOW
            is_card = room - (CARD - 1) >= spare
            room -= (CARD - 1) * is_card
            panel.take("card" if is_card else "chip" if crowded else "line")
            if is_card or not crowded:
                rows.append(CARD if is_card else 1)
        if crowded:
            rows += [1] * -(-len(alive) // 2)
        for panel in idle:
            panel.take("chip" if lines_of_idle < len(idle) else "line")
        return rows + [1] * lines_of_idle
