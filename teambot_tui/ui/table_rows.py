"""What the tables say: their columns, and their rows as plain values, made from the views and nothing else.

A cell says its words, its role and by what it is sorted; how it looks and where it fits is not decided here.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from teambot_tui.engine.states import STATES, Role, agent_state, task_state
from teambot_tui.engine.text import one_line
from teambot_tui.ui.glyphs import duration, money, size, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Usage
    from teambot_tui.engine.views import AgentView, TaskView, VariableView
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.views import Views


_WORDS: Final = 300


class Column(NamedTuple):
    """A column; one of a table takes the room that the others leave, the spare ones give theirs up first."""

    title: str
    right: bool = False
    fills: bool = False
    spare: bool = False


class Cell(NamedTuple):
    """Words, how they are meant, and by what they are sorted, if not by themselves."""

    text: str = ""
    role: str = ""
    order: float | None = None

    @property
    def rank(self) -> tuple[float, str]:
        """Where it stands in its column."""
        return (0.0, self.text.casefold()) if self.order is None else (self.order, "")


class TableRow(NamedTuple):
    """One row, told from the others by its key, and what it is about."""

    key: str
    cells: tuple[Cell, ...]
    task: TaskId | None = None
    agent: AgentId | None = None
    choice: str | None = None
    """What choosing the row chooses."""


TASKS: Final = (
    Column("state"),
    Column("task"),
    Column("its words", fills=True),
    Column("time", right=True),
    Column("tokens", right=True, spare=True),
    Column("cost", right=True, spare=True),
)
HISTORY: Final = (Column("asked"), Column("task"), Column("state"), Column("what was asked", fills=True))
STATUS: Final = (
    Column("agent"),
    Column("state"),
    Column("time", right=True),
    Column("what it does", fills=True),
    Column("queue", right=True),
    Column("tokens", right=True, spare=True),
    Column("cost", right=True, spare=True),
)
AGENTS: Final = (
    Column("agent"),
    Column("is"),
    Column("runs on", spare=True),
    Column("model"),
    Column("state"),
    Column("what it is for", fills=True),
)
MODELS: Final = (Column(""), Column("agent"), Column("model", fills=True))
VARIABLES: Final = (
    Column("variable"),
    Column("task"),
    Column("state"),
    Column("size", right=True),
    Column("how it begins", fills=True),
)
THEMES: Final = (Column(""), Column("theme", fills=True))

_ORDER: Final = tuple(
    sorted(STATES, key=lambda state: (state == "idle", STATES[state].is_final, state != "asking"))
)
"""How states are sorted: what needs somebody first, what is over last."""


def task_rows(views: Views, glyphs: Glyphs, now: float, state: str | None = None) -> list[TableRow]:
    """Return a row for each task, or for those in one state, the newest first."""
    found = (views.task(name) for name in reversed(views.tasks()))
    return [
        TableRow(
            view.task,
            (
                _task_state(view, glyphs),
                Cell(view.task, "strong"),
                Cell(_line(view.words)),
                _time(view, now),
                *_used(view.doing.usage),
            ),
            view.task,
            view.agent,
        )
        for view in found
        if state in (None, view.state.value)
    ]


def history_rows(
    views: Views, glyphs: Glyphs, wall_clock_ahead: float, agent: AgentId | None
) -> list[TableRow]:
    """Return a row for each task with the statement it comes from, the newest first."""
    found = (views.task(name) for name in reversed(views.tasks(agent)))
    return [
        TableRow(
            view.task,
            (
                Cell(_time_of_day(view.created + wall_clock_ahead), "quiet", view.created),
                Cell(view.task, "strong"),
                _task_state(view, glyphs),
                Cell(_line(view.statement)),
            ),
            view.task,
            view.agent,
        )
        for view in found
    ]


def status_rows(views: Views, glyphs: Glyphs, now: float) -> list[TableRow]:
    """Return a row for each agent with what it does, or did last."""
    rows = []
    for agent in views.roster.agents:
        view = views.agent(agent)
        task = views.task(view.task) if view.task is not None else None
        time = Cell() if task is None else _time(task, now)
        words = _line(task.words) if task is not None else ""
        rows.append(
            TableRow(
                agent,
                (
                    Cell(view.name, "strong"),
                    _agent_state(view, glyphs, now),
                    time,
                    Cell(words, "" if view.state == "executing" else "quiet"),
                    Cell(f"{glyphs['queued']}{view.queued}" if view.queued else "", "quiet", view.queued),
                    *_used(view.total),
                ),
                view.task,
                agent,
            )
        )
    return rows


def agent_rows(
    views: Views,
    glyphs: Glyphs,
    now: float,
    models: Mapping[AgentId, str | None],
    backends: Mapping[AgentId, str],
    descriptions: Mapping[AgentId, str],
) -> list[TableRow]:
    """Return a row for each agent with who it is."""
    rows = []
    for agent in views.roster.agents:
        view = views.agent(agent)
        defined = views.roster.temporary.get(agent)
        kind = "of the team"
        if defined is not None:
            kind = f"temporary, of {defined.base}" + (f", by {view.parent}" if view.parent else "")
        base = agent if defined is None else defined.base
        purpose = descriptions.get(agent, "") if defined is None else one_line(defined.prompt, _WORDS)
        rows.append(
            TableRow(
                agent,
                (
                    Cell(view.name, "strong"),
                    Cell("default" if views.roster.default == agent else kind, "quiet"),
                    Cell(next((name for each, name in backends.items() if each == base), ""), "quiet"),
                    Cell(models.get(agent) or "its own", "" if models.get(agent) else "quiet"),
                    _agent_state(view, glyphs, now),
                    Cell(purpose),
                ),
                view.task,
                agent,
            )
        )
    return rows


def model_rows(
    models: Mapping[AgentId, str | None],
    offered: Mapping[AgentId, Sequence[str] | str],
    glyphs: Glyphs,
) -> list[TableRow]:
    """Return a row for each model an agent can have; for who is not in `offered`, the answer is awaited.

    A text in place of the models says why there are none.
    """
    rows = []
    for agent, model in models.items():
        known = offered.get(agent)
        names = () if known is None or isinstance(known, str) else known
        for name in dict.fromkeys((None, *([model] if model else ()), *names)):
            mark = glyphs["executing"] if name == model else ""
            words = Cell(one_line(name, _WORDS)) if name else Cell("as its backend chooses", "quiet")
            rows.append(
                TableRow(
                    f"{agent} {name or ''}",
                    (Cell(mark, Role.WORK), Cell(f"@{agent}", "strong"), words),
                    agent=agent,
                    choice=name,
                )
            )
        note = f"asking what is offered{glyphs['ellipsis']}" if known is None else known
        if isinstance(note, str) and note:
            cells = (Cell(), Cell(f"@{agent}", "quiet"), Cell(one_line(note, _WORDS), "quiet"))
            rows.append(TableRow(f"{agent} note", cells))
    return rows


def variable_rows(variables: Iterable[VariableView], glyphs: Glyphs) -> list[TableRow]:
    """Return a row for each variable, as its newest capture stands."""
    return [
        TableRow(
            view.name,
            (
                Cell(f"{{{view.name}}}", "strong"),
                Cell(view.task, "quiet"),
                _state(view.state.value, glyphs),
                Cell(size(view.size), "quiet", view.size),
                Cell(one_line(view.first_line, _WORDS)),
            ),
            view.task,
        )
        for view in variables
    ]


def theme_rows(names: Iterable[str], current: str, glyphs: Glyphs) -> list[TableRow]:
    """Return a row for each theme."""
    return [
        TableRow(
            name,
            (Cell(glyphs["executing"] if name == current else "", Role.WORK), Cell(name)),
            choice=name,
        )
        for name in names
    ]


@lru_cache(maxsize=4096)
def _line(text: str) -> str:
    """Return a text in one line; the rows are made again and again, of the same texts."""
    return one_line(text, _WORDS)


def _state(state: str, glyphs: Glyphs, words: str = "") -> Cell:
    look = STATES[state]
    return Cell(f"{glyphs[state]} {words or look.word}", look.role, _ORDER.index(state))


def _task_state(view: TaskView, glyphs: Glyphs) -> Cell:
    return _state(task_state(view), glyphs, _names(view.waiting_for))


def _agent_state(view: AgentView, glyphs: Glyphs, now: float) -> Cell:
    return _state(agent_state(view, now), glyphs, _names(view.waiting_for))


def _names(agents: Sequence[AgentId]) -> str:
    return f"@{','.join(agents)}" if agents else ""


def _time(view: TaskView, now: float) -> Cell:
    begin = view.started or (view.created if view.ended is None else 0.0)
    if not begin:
        return Cell(order=-1)  # it never ran
    seconds = (now if view.ended is None else view.ended) - begin
    return Cell(duration(seconds), "quiet", seconds)


def _used(usage: Usage | None) -> tuple[Cell, Cell]:
    spent, cost = (usage.tokens, usage.cost) if usage is not None else (0, None)
    return (
        Cell(tokens(spent) if spent else "", "quiet", spent),
        Cell(money(cost) if cost is not None else "", "quiet", -1 if cost is None else cost),
    )


def _time_of_day(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
