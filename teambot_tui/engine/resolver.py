"""Statements become tasks here: agents looked up, references bound, circles refused, before any starts.

Binding is decided at this moment and never again: what `$pm` means cannot change by who is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from teambot_tui.engine.board import State
from teambot_tui.engine.cycles import Prospect
from teambot_tui.engine.facts import Condition, Dependency, StatementAccepted, TaskCreated, Via
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.policy import OnFailure
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import EVERYONE, did_you_mean
from teambot_tui.language.nodes import Command, Definition, Pipeline, Reference, Span, Stage, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.policy import Policy
    from teambot_tui.language.nodes import Mention


@dataclass(frozen=True, slots=True)
class Roster:
    """Who can be given work, in the order of the team, and who gets what is addressed to nobody."""

    agents: tuple[AgentId, ...]
    default: AgentId | None


def resolve(
    source: str, statements: Sequence[Statement], board: Board, roster: Roster, policy: Policy, now: float
) -> list[StatementAccepted | TaskCreated]:
    """Return the facts that accepting these statements would be.

    Raises:
        StatementError: something in them has no meaning; nothing was changed.
    """
    return _Resolver(source, board, roster, policy, now).resolve(statements)


class _Resolver:
    def __init__(self, source: str, board: Board, roster: Roster, policy: Policy, now: float) -> None:
        self.source = source
        self.roster = roster
        self.policy = policy
        proceed = policy.on_dependency_failure is OnFailure.PROCEED
        self.condition = Condition.ALWAYS if proceed else Condition.SUCCESS
        self.now = now
        self.prospect = Prospect(board)

    def resolve(self, statements: Sequence[Statement]) -> list[StatementAccepted | TaskCreated]:
        facts: list[StatementAccepted | TaskCreated] = []
        for statement in statements:
            if isinstance(statement, Command):
                self._fail(
                    f"/{statement.name} is a command for the screen, not a statement.",
                    statement.span,
                    "only @agent statements can be run here",
                )
            if isinstance(statement, Definition):
                self._fail(
                    "Temporary agents are not part of this version.",
                    statement.name_span,
                    "to send it as text, write \\$",
                )
            tasks = self._pipeline(statement)
            text = self.source[statement.span.start : statement.span.end].strip()
            facts.append(StatementAccepted(self.now, text, tuple(task.task for task in tasks)))
            facts.extend(tasks)
        return facts

    def _pipeline(self, pipeline: Pipeline) -> list[TaskCreated]:
        tasks: list[TaskCreated] = []
        upstream: list[Dependency] = []
        for stage in pipeline.stages:
            if stage.exact:
                self._fail(
                    "Exact calls are not part of this version.",
                    stage.mentions[0].span,
                    "give an agent the task: @pm Plan it",
                )
            agents = self._agents(stage)
            if not stage.parts and not upstream:
                receivers = self._agents(pipeline.stages[1])
                upstream = [
                    self._bind(agent, Via.HANDOFF, span, pipeline.background, receivers)
                    for agent, span in agents.items()
                ]
                continue
            references = self._references(stage)
            created = [self._task(pipeline, stage, agent, agents, references, upstream) for agent in agents]
            for task in created:
                if circle := self.prospect.add(task):
                    way = " → ".join(f"@{agent}" for agent in circle)
                    self._fail(
                        f"Circular dependency detected: {way}",
                        agents[task.agent],
                        "one of them has to start without the other's output",
                    )
            upstream = [Dependency(task.agent, task.task, Via.HANDOFF, self.condition) for task in created]
            tasks.extend(created)
        return tasks

    def _task(
        self,
        pipeline: Pipeline,
        stage: Stage,
        agent: AgentId,
        siblings: Iterable[AgentId],
        references: dict[AgentId, Span],
        upstream: list[Dependency],
    ) -> TaskCreated:
        named = [
            self._bind(name, Via.REFERENCE, span, pipeline.background, siblings)
            for name, span in references.items()
        ]
        seen = {(dependency.agent, dependency.task) for dependency in named}
        handed = [each for each in upstream if (each.agent, each.task) not in seen]
        return TaskCreated(
            time=self.now,
            task=self.prospect.next_task(agent),
            agent=agent,
            parts=stage.parts,
            dependencies=(*named, *handed),
            background=pipeline.background,
            model=stage.model,
            wait_timeout=self.policy.wait_timeout,
        )

    def _agents(self, stage: Stage) -> dict[AgentId, Span]:
        if not stage.mentions:
            if self.roster.default is None:
                self._fail(
                    "No agent is named, and there is no default agent.",
                    stage.span,
                    'begin with @agent, or set default_agent = "pm" in teambot.toml',
                )
            return {self.roster.default: stage.span}
        agents: dict[AgentId, Span] = {}
        for mention in stage.mentions:
            if mention.agent == EVERYONE:
                agents.update({agent: mention.span for agent in self.roster.agents if agent not in agents})
            elif mention.agent in self.roster.agents:
                agents.setdefault(AgentId(mention.agent), mention.span)
            else:
                self._fail_unknown(mention, first=mention is stage.mentions[0])
        return agents

    def _references(self, stage: Stage) -> dict[AgentId, Span]:
        references: dict[AgentId, Span] = {}
        for part in stage.parts:
            if not isinstance(part, Reference) or part.agent in references:
                continue
            if part.agent not in self.roster.agents:
                near = did_you_mean(part.agent, self.roster.agents)
                self._fail(
                    f"Unknown agent reference: ${part.agent}. Valid agents: {self._valid()}",
                    part.span,
                    (f"did you mean ${near}? " if near else "")
                    + f"to send it as text, write \\${part.agent}",
                )
            references[AgentId(part.agent)] = part.span
            if len(references) > self.policy.max_references:
                self._fail(
                    f"More than {self.policy.max_references} different references in one prompt.",
                    part.span,
                    "let another agent sum some of them up first, or raise max_references in teambot.toml",
                )
        return references

    def _bind(
        self, agent: AgentId, via: Via, span: Span, background: bool, siblings: Iterable[AgentId]
    ) -> Dependency:
        if task := self.prospect.newest(agent):
            return Dependency(agent, task, via, self.condition)
        latest = self.prospect.latest(agent)
        if latest is None:
            # A task that waits for its own agent would stand in front of whatever could end the wait.
            if background and agent not in siblings:
                return Dependency(agent, None, via, self.condition)
            self._fail(
                f"Agent @{agent} has no output to reference. Run a task for @{agent} first.",
                span,
                f"try: @{agent} …, then this again"
                + ("" if agent in siblings else "; or end this with & to wait for it"),
            )
        if latest.state is State.FAILED:
            reason = latest.reason.removesuffix(".")
            self._fail(f"Agent @{agent} failed: {reason}. Retry it with /retry {agent}.", span, "")
        return Dependency(agent, latest.id, via, self.condition)

    def _fail_unknown(self, mention: Mention, *, first: bool) -> NoReturn:
        near = did_you_mean(mention.agent, self.roster.agents)
        if near:
            hint = f"did you mean @{near}?"
        elif first:
            hint = f"for a task that begins with @, write \\@{mention.agent}"
        else:
            hint = "to say something after one agent, leave out the comma: @pm please plan"
        self._fail(f"Unknown agent: @{mention.agent}. Valid agents: {self._valid()}", mention.span, hint)

    def _valid(self) -> str:
        return ", ".join(self.roster.agents)

    def _fail(self, message: str, span: Span, hint: str) -> NoReturn:
        raise StatementError(message, self.source, span, hint)
