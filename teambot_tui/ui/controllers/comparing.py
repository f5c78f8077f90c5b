"""Answers to the same words, found, laid side by side, and the chosen one handed on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from teambot_tui.service import Service
from teambot_tui.ui.glyphs import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.views import TaskView
    from teambot_tui.ui.actions import Actions
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.setup import ScreenSetup
    from teambot_tui.ui.views import Views
    from teambot_tui.ui.widgets.input import InputBar

_MOST: Final = 6
_TICKS: Final = re.compile(r"`{3,}")


def answers_like(views: Views, task: TaskId) -> tuple[TaskId, ...]:
    """Return the completed tasks that were asked the same as this one, of many the newest, in their order."""
    words = views.task(task).words
    same = [
        name for name in views.tasks() if views.task(name).words == words and _has_answered(views.task(name))
    ]
    return tuple(same[-_MOST:])


def _has_answered(view: TaskView) -> bool:
    return view.state == "completed"


def fenced(text: str) -> str:
    """Return a text as it can be typed without anything in it meaning anything."""
    ticks = max([2, *(len(run) for run in _TICKS.findall(text))]) + 1
    fence = "`" * ticks
    return f"{fence}\n{text.rstrip()}\n{fence}"


class Comparing:
    """Compares answers, and lets the person hand one on."""

    def __init__(
        self, screen: Screen[None], setup: ScreenSetup, actions: Actions, person: Person, bar: InputBar
    ) -> None:
        self._screen = screen
        self._setup = setup
        self._actions = actions
        self._views = actions.views
        self._person = person
        self._bar = bar

    def compare(self, tasks: Sequence[TaskId]) -> None:
        """Show what these tasks answered, side by side; of one task, all answers to the same words."""
        if len(tasks) == 1:
            found = answers_like(self._views, tasks[0])
            if len(found) < 2:
                self._person.tell(
                    f"Nothing to compare {tasks[0]} with: there must be two answers to the same words."
                    f" /again {tasks[0]} makes another, @pm,ba asks two."
                )
                return
            chosen = found.index(tasks[0]) if tasks[0] in found else 0
            self._person.in_background(self._compare(found, chosen))
        else:
            self._person.in_background(self._compare(tuple(dict.fromkeys(tasks))[:_MOST], 0))

    def compare_named(self, names: Sequence[str], refused: Callable[[str], None]) -> None:
        """Compare the tasks that are meant by these names; `refused` is told if one means none."""
        self._person.in_background(self._compare_named(names), refused)

    async def _compare_named(self, names: Sequence[str]) -> None:
        self.compare([await self._actions.ask(Service.find, name) for name in names])

    async def _compare(self, tasks: Sequence[TaskId], chosen: int) -> None:
        from teambot_tui.ui.screens.compare import Candidate, CompareScreen  # noqa: PLC0415

        glyphs = self._setup.glyphs
        answers = []
        outputs = await self._actions.ask(Service.outputs, tasks)
        for task, output in zip(tasks, outputs, strict=True):
            view = self._views.task(task)
            seconds = (view.ended or 0.0) - view.started if view.ended and view.started else 0.0
            facts = [str(task), *([view.model] if view.model else []), glyphs[view.state], duration(seconds)]
            answers.append(Candidate(task, f" {glyphs['dot']} ".join(facts), output))
        screen = CompareScreen(answers, glyphs, self._setup.keys, self._person.copy, chosen)
        handed_on = await self._screen.app.push_screen_wait(screen)
        if handed_on is not None:
            self._hand_on(handed_on, next(each.text for each in answers if each.task == handed_on))

    def _hand_on(self, task: TaskId, text: str) -> None:
        """Begin a statement with an answer: by its agent's name, if that means this one, else as it is."""
        agent = self._views.task(task).agent
        is_the_last = self._views.tasks(agent)[-1] == task
        begins = self._bar.is_empty
        self._bar.take_in(f" ${agent} " if is_the_last else f"\n{fenced(text)}\n")
        if begins:  # whom it is for is typed next
            self._bar.move_cursor((0, 0))
            self._bar.take_in("@")
        self._bar.focus()
