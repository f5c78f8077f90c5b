"""Everything a person can ask of the session, for the keys, the commands and the palette alike.

It asks the engine across the bridge, says what else falls before something is cancelled, and tells the person
what came of it. It knows no widget.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.language.errors import StatementError
from teambot_tui.language.span import Span
from teambot_tui.service import Service
from teambot_tui.ui.agent_actions import AgentActions
from teambot_tui.ui.budgets import limit_words
from teambot_tui.ui.workflow_actions import WorkflowActions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from concurrent.futures import Future

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.explain import Explanation
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Verdict
    from teambot_tui.engine.reading import TaskText
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.views import Views

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_MOST_MODELS = 500
_LONGEST_MODEL = 80


class Actions:
    """A person's requests to a session."""

    def __init__(self, person: Person, bridge: Bridge, views: Views, folder: Path) -> None:
        self.views = views
        self.agents = AgentActions(person, bridge, views, folder)
        self.workflows = WorkflowActions(person, bridge, folder)
        self._person = person
        self._bridge = bridge
        self._folder = folder
        self._first_default = views.roster.default

    async def ask(
        self,
        method: Callable[Concatenate[Service, Arguments], Answer],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Answer:
        """Let the engine do something, and wait for what comes of it.

        Raises:
            RefusedError: The engine has ended, or what was asked says so.
        """
        return await asyncio.wrap_future(self._bridge.ask(method, *arguments, **named))

    def explain(self, text: str) -> Future[Explanation]:
        """Ask what submitting this text would do; an answer that nobody waits for any more is not made."""
        return self._bridge.ask(Service.explain, text)

    def read(self, task: TaskId) -> Future[TaskText]:
        """Ask for the texts of a task."""
        return self._bridge.ask(Service.read, task)

    def submit(self, text: str) -> Awaitable[StatementError | None]:
        """Submit, now and in order; the answer is what is wrong, if it is refused."""
        return self._refusal(text, self._bridge.ask(Service.submit, text))

    async def _refusal(self, text: str, answer: Future[tuple[TaskId, ...]]) -> StatementError | None:
        try:
            await asyncio.wrap_future(answer)
        except StatementError as error:
            return error
        except RefusedError as error:
            return StatementError(str(error), text, Span(0, len(text)))
        return None

    def cancel(self, target: str, refused: Callable[[str], None] | None = None) -> None:
        """Cancel a task, an agent's tasks, or all, after showing what falls with it."""
        self._person.in_background(self._cancel(target), refused)

    def retry(self, target: str, refused: Callable[[str], None] | None = None) -> None:
        """Do a failed or cancelled task again, with what was skipped because of it."""
        self._person.in_background(self._retry(target), refused)

    def again(self, target: str, refused: Callable[[str], None] | None = None) -> None:
        """Do a task once more, as a new one."""
        self._person.in_background(self._again(target), refused)

    def find(
        self, name: str, found: Callable[[TaskId], object], refused: Callable[[str], None] | None = None
    ) -> None:
        """Find the task that is meant by a name."""

        async def look() -> None:
            found(await self.ask(Service.find, name))

        self._person.in_background(look(), refused)

    def cancel_at_once(self, tasks: Sequence[TaskId]) -> None:
        """Cancel these; whoever asks has named them already."""
        self._bridge.ask(Service.cancel_tasks, tasks)

    def foretell(self, tasks: Sequence[TaskId], tell: Callable[[str], None]) -> None:
        """Tell what cancelling these would do."""

        async def say() -> None:
            tell((await self.ask(Service.consequences, tasks)).words)

        self._person.in_background(say())

    def leave(self) -> None:
        """End the app, asking if anything runs."""
        if not self._person.is_asked:
            self._person.in_background(self._leave())

    async def _leave(self) -> None:
        try:
            all_of_it = await self.ask(Service.consequences, "all")
        except RefusedError:
            self._person.leave()  # the engine has ended
            return
        if all_of_it.tasks and not await self._person.confirm("Agents are working. Quit?", all_of_it.words):
            return
        if useful := self.agents.worth_keeping():
            chosen = await self._person.choose_to_keep(useful)
            if chosen is None:
                return
            await self.agents.keep(tuple(chosen))
            if not self.agents.kept.issuperset(chosen):
                return  # what stands in the way is on the screen
        self._person.leave()

    async def _cancel(self, target: str) -> None:
        expected = await self.ask(Service.consequences, target)
        if not expected.tasks:
            self._person.tell(
                f"Nothing of {target} is going on." if target != "all" else "Nothing is going on."
            )
            return
        several = len(expected.tasks) + len(expected.skipped) > 1
        if several and not await self._person.confirm(f"Cancel {target}?", expected.words):
            return
        await self.ask(Service.cancel, target)
        also = f"; skipped {', '.join(expected.skipped)}" if expected.skipped else ""
        also += expected.workflow_clause
        what = "it" if len(expected.tasks) == 1 else "the first"
        again = f"/retry {expected.tasks[0]} brings {what} back"
        if expected.workflows:
            again = "/up starts it again"
        self._person.tell(f"Cancelled {', '.join(expected.tasks)}{also}. {again}.")

    async def _retry(self, target: str) -> None:
        task = await self.ask(Service.retry, target)
        self._person.tell(f"{task} runs again.")

    async def _again(self, target: str) -> None:
        task = await self.ask(Service.again, target)
        self._person.tell(f"{task} does it once more.")

    def use_agent(self, agent: AgentId | None) -> None:
        """Let what is addressed to nobody go to this agent, or to the one of the settings."""
        chosen = agent or self._first_default
        self._bridge.ask(Service.use_agent, chosen)
        self._person.tell(
            f"Text without @ goes to @{chosen}." if chosen else "Text without @ goes to nobody."
        )

    async def offered_models(self, agent: AgentId) -> tuple[str, ...]:
        """Return the models that an agent's backend offers; it is foreign code and may raise anything."""
        offered = await asyncio.wrap_future(self._bridge.run(Service.offered_models, agent))
        return tuple(one_line(name, _LONGEST_MODEL) for name in offered[:_MOST_MODELS])

    def set_model(self, agent: AgentId, model: str | None) -> None:
        """Let an agent's further tasks run on this model."""
        self._bridge.ask(Service.set_model, agent, model)
        self._person.tell(f"@{agent} uses {model or 'its default model'} from its next task on.")

    def answer(self, request: PermissionRequest, verdict: Verdict, always: bool, words: str) -> None:
        """Answer an agent that asks for permission, and tell it these words, if any."""
        self._bridge.ask(Service.answer, request.task, request.request, verdict, always, words)

    def set_budget(self, cost: float | None, tokens: int | None) -> None:
        """Allow this many dollars and tokens in all; what waits for it goes on."""
        self._bridge.ask(Service.set_budget, cost, tokens)
        limits = limit_words(cost, tokens)
        self._person.tell(f"The budget is {limits} in all." if limits else "There is no budget.")

    def forget(self, agent: AgentId) -> None:
        """Let an agent's next task begin without memory of the earlier ones."""
        self._person.in_background(self._forget(agent))

    async def _forget(self, agent: AgentId) -> None:
        try:
            await asyncio.wrap_future(self._bridge.run(Service.forget, agent))
        except Exception as error:  # noqa: BLE001  a backend is foreign code: tell, go on
            self._person.tell(one_line(f"@{agent} could not forget: {error}"), alarm=True)
        else:
            self._person.tell(f"@{agent} begins its next task without memory of the earlier ones.")

    async def output(self, target: AgentId | TaskId) -> str:
        """Return what a task has said, or what an agent said last."""
        if "#" in target:
            return await self.ask(Service.output, cast("TaskId", target))
        return await self.ask(Service.last_output, cast("AgentId", target))

    def export(self, file: str, text: str = "") -> None:
        """Write a text, or without one the session, as it is now, as Markdown, and tell where it is."""
        self._person.in_background(self._export(file, text))

    async def _export(self, file: str, text: str) -> None:
        text = text or await self._as_markdown()

        def find() -> tuple[Path, bool]:
            path = (self._folder / Path(file).expanduser()).resolve()
            return path, path.is_file()

        try:
            path, is_there = await asyncio.to_thread(find)
            if is_there and not await self._person.confirm(
                f"Replace {path.name}?", f"{path} is there already"
            ):
                return
            await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        except (OSError, RuntimeError) as error:  # there may be no such home
            self._person.tell(f"Could not write it: {getattr(error, 'strerror', None) or error}", alarm=True)
        else:
            self._person.tell(f"Exported to {path}.")

    async def _as_markdown(self) -> str:
        views = [self.views.task(name) for name in self.views.tasks()]
        outputs = await self.ask(Service.outputs, [view.task for view in views])
        blocks = [
            f"## {view.task}: {view.state}\n\n> {view.statement}\n\n{output}\n"
            for view, output in zip(views, outputs, strict=True)
        ]
        return "\n".join(blocks)
