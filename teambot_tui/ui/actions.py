"""Everything a person can ask of the session, for the keys, the commands and the palette alike.

It asks the engine across the bridge, says what else falls before something is cancelled, and tells the person
what came of it. It knows no widget.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from textual.content import Content

from teambot_tui.engine.ids import AgentId, TaskId, agent_of
from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import one_line
from teambot_tui.language.errors import StatementError
from teambot_tui.language.span import Span
from teambot_tui.ui.agent_actions import AgentActions
from teambot_tui.ui.budgets import limit_words
from teambot_tui.ui.workflow_actions import WorkflowActions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from concurrent.futures import Future

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.ports import Verdict
    from teambot_tui.engine.session import Session
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.ui.mirror import Mirror

Answer = TypeVar("Answer")

_MOST_MODELS = 500
_LONGEST_MODEL = 80


class Actions:
    """A person's requests to a session."""

    def __init__(
        self,
        person: Person,
        bridge: Bridge,
        mirror: Mirror,
        models: dict[AgentId, str | None],
        folder: Path,
    ) -> None:
        self.mirror = mirror
        self.agents = AgentActions(person, bridge, mirror, folder)
        self.workflows = WorkflowActions(person, bridge, mirror, folder)
        self._person = person
        self._bridge = bridge
        self._models = models
        self._folder = folder
        self._first_default = mirror.roster.default

    async def ask(self, request: Callable[[Session], Answer]) -> Answer:
        """Let the engine do something, and wait for what comes of it.

        Raises:
            RefusedError: The engine has ended, or what was asked says so.
        """
        return await asyncio.wrap_future(self._bridge.ask(request))

    def submit(self, text: str) -> Awaitable[StatementError | None]:
        """Submit, now and in order; the answer is what is wrong, if it is refused."""
        return self._refusal(text, self._bridge.ask(lambda session: session.submit(text)))

    async def _refusal(self, text: str, answer: Future[tuple[TaskId, ...]]) -> StatementError | None:
        try:
            await asyncio.wrap_future(answer)
        except StatementError as error:
            return error
        except RefusedError as error:
            return StatementError(str(error), text, Span(0, len(text)))
        return None

    async def catch_up(self) -> None:
        """Wait until the engine has done all that was asked of it before, or has ended."""
        with suppress(RefusedError):
            await self.ask(lambda _: None)

    def cancel(self, target: str) -> None:
        """Cancel a task, an agent's tasks, or all, after showing what falls with it."""
        self._person.in_background(self._cancel(target))

    def retry(self, target: str) -> None:
        """Do a failed or cancelled task again, with what was skipped because of it."""
        self._person.in_background(self._retry(target))

    def again(self, target: str) -> None:
        """Do a task once more, as a new one."""
        self._person.in_background(self._again(target))

    def cancel_at_once(self, tasks: Sequence[TaskId]) -> None:
        """Cancel these; whoever asks has named them already."""
        self._bridge.ask(lambda session: [session.cancel(task) for task in tasks])

    def leave(self) -> None:
        """End the app, asking if anything runs."""
        if not self._person.is_asked:
            self._person.in_background(self._leave())

    async def _leave(self) -> None:
        tasks, _ = self.consequences("all")
        words = f"cancels {', '.join(tasks)}{self.workflows.falls_with(tasks)}"
        if tasks and not await self._person.confirm("Agents are working. Quit?", words):
            return
        if useful := self.agents.worth_keeping():
            chosen = await self._person.choose_to_keep(useful)
            if chosen is None:
                return
            await self.agents.keep(tuple(chosen))
            if not self.agents.kept.issuperset(chosen):
                return  # what stands in the way is on the screen
        self._person.leave()

    def consequences(self, target: str) -> tuple[tuple[TaskId, ...], tuple[TaskId, ...]]:
        """Return what cancelling would cancel, and what would be skipped with it."""
        agents = self.mirror.roster.agents
        if target == "all":
            tasks = tuple(task for agent in agents for task in self.mirror.queue(agent))
        elif target in agents:
            tasks = self.mirror.queue(AgentId(target))
        else:
            tasks = tuple(task for task in self.mirror.queue(agent_of(TaskId(target))) if task == target)
        return tasks, self.mirror.falls_with(tasks)

    async def _cancel(self, target: str) -> None:
        tasks, fallen = self.consequences(target)
        if not tasks:
            self._person.tell(
                f"Nothing of {target} is going on." if target != "all" else "Nothing is going on."
            )
            return
        words = f"cancels {', '.join(tasks)}" + (f"; skips {', '.join(fallen)}" if fallen else "")
        ended = self.workflows.falls_with((*tasks, *fallen))
        words += ended
        if len(tasks) + len(fallen) > 1 and not await self._person.confirm(f"Cancel {target}?", words):
            return
        await self.ask(lambda session: session.cancel(target))
        also = f"; skipped {', '.join(fallen)}" if fallen else ""
        what = "it" if len(tasks) == 1 else "the first"
        again = "/up starts it again" if ended else f"/retry {tasks[0]} brings {what} back"
        self._person.tell(f"Cancelled {', '.join(tasks)}{also}{ended}. {again}.")

    async def _retry(self, target: str) -> None:
        task = await self.ask(lambda session: session.retry(target))
        self._person.tell(f"{task} runs again.")

    async def _again(self, target: str) -> None:
        task = await self.ask(lambda session: session.again(target))
        self._person.tell(f"{task} does it once more.")

    def use_agent(self, agent: AgentId | None) -> None:
        """Let what is addressed to nobody go to this agent, or to the one of the settings."""
        chosen = agent or self._first_default
        self._bridge.ask(lambda session: session.use_agent(chosen))
        self._person.tell(
            f"Text without @ goes to @{chosen}." if chosen else "Text without @ goes to nobody."
        )

    def models(self) -> dict[AgentId, str | None]:
        """The model of each agent."""
        joined = self.mirror.roster.temporary
        return {
            agent: self._models[agent] if agent in self._models else joined[agent].model
            for agent in self.mirror.roster.agents
        }

    async def offered_models(self, agent: AgentId) -> tuple[str, ...]:
        """Return the models that an agent's backend offers; it is foreign code and may raise anything."""
        offered = await asyncio.wrap_future(self._bridge.run(partial(_offered, agent)))
        return tuple(one_line(name, _LONGEST_MODEL) for name in offered[:_MOST_MODELS])

    def set_model(self, agent: AgentId, model: str | None) -> None:
        """Let an agent's further tasks run on this model."""
        self._models[agent] = model
        self._bridge.ask(lambda session: session.set_model(agent, model))
        self._person.tell(f"@{agent} uses {model or 'its default model'} from its next task on.")

    def answer(self, request: PermissionRequest, verdict: Verdict, always: bool, words: str) -> None:
        """Answer an agent that asks for permission, and tell it these words, if any."""
        self._bridge.ask(
            lambda session: session.answer(request.task, request.request, verdict, always=always, words=words)
        )

    def set_budget(self, cost: float | None, tokens: int | None) -> None:
        """Allow this many dollars and tokens in all; what waits for it goes on."""
        self._bridge.ask(lambda session: session.set_budget(cost, tokens))
        limits = limit_words(cost, tokens)
        self._person.tell(f"The budget is {limits} in all." if limits else "There is no budget.")

    def forget(self, agent: AgentId) -> None:
        """Let an agent's next task begin without memory of the earlier ones."""
        self._person.in_background(self._forget(agent))

    async def _forget(self, agent: AgentId) -> None:
        try:
            await asyncio.wrap_future(self._bridge.run(lambda session: session.forget(agent)))
        except Exception as error:  # noqa: BLE001  a backend is foreign code: tell, go on
            self._person.tell(one_line(f"@{agent} could not forget: {error}"), alarm=True)
        else:
            self._person.tell(f"@{agent} begins its next task without memory of the earlier ones.")

    def last_output(self, agent: AgentId) -> str | None:
        """Return what an agent said last."""
        tasks = [task for task in self.mirror.tasks(agent) if self.mirror.output(task)]
        return self.mirror.output(tasks[-1]) if tasks else None

    def export(self, file: str) -> None:
        """Write the session, as it is now, as Markdown, and tell where it is."""
        blocks = []
        for name in self.mirror.tasks():
            view = self.mirror.task(name)
            blocks.append(
                f"## {view.task}: {view.state}\n\n> {view.statement}\n\n{self.mirror.output(name)}\n"
            )
        self._person.in_background(self._export(file, blocks))

    async def _export(self, file: str, blocks: list[str]) -> None:
        def find() -> tuple[Path, bool]:
            path = (self._folder / Path(file).expanduser()).resolve()
            return path, path.is_file()

        try:
            path, is_there = await asyncio.to_thread(find)
            if is_there and not await self._person.confirm(
                f"Replace {path.name}?", f"{path} is there already"
            ):
                return
            await asyncio.to_thread(path.write_text, "\n".join(blocks), encoding="utf-8")
        except (OSError, RuntimeError) as error:  # there may be no such home
            self._person.tell(f"Could not write it: {getattr(error, 'strerror', None) or error}", alarm=True)
        else:
            self._person.report("Exported", Content(str(path)))


async def _offered(agent: AgentId, session: Session) -> tuple[str, ...]:
    return await session.offered_models(agent)
