"""Statements become tasks here: agents looked up, names bound, cycles refused, before any starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias, assert_never

from teambot_tui.engine.binding import Binder
from teambot_tui.engine.cycles import PlannedBoard
from teambot_tui.engine.dependencies import Condition, Dependency, Via
from teambot_tui.engine.facts import AgentDefined, StatementAccepted, TaskCreated
from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.policy import OnFailure
from teambot_tui.engine.text import one_line
from teambot_tui.language.errors import StatementError
from teambot_tui.language.names import EVERYONE, PERSON, RESERVED, did_you_mean
from teambot_tui.language.nodes import Command, Definition, Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from teambot_tui.engine.board import Board
    from teambot_tui.engine.policy import Policy
    from teambot_tui.engine.roster import Roster
    from teambot_tui.language.nodes import Mention, Span, Stage, Statement


Accepted: TypeAlias = StatementAccepted | AgentDefined | TaskCreated
"""What accepting a statement is made of."""


def resolve(
    source: str, statements: Sequence[Statement], board: Board, roster: Roster, policy: Policy, now: float
) -> list[Accepted]:
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
        self.planned_board = PlannedBoard(board)
        self.binder = Binder(source, self.planned_board, self.condition)
        self.facts: list[Accepted] = []

    def resolve(self, statements: Sequence[Statement]) -> list[Accepted]:
        for statement in statements:
            match statement:
                case Pipeline():
                    self._accept(statement, self._pipeline(statement))
                case Definition():
                    self._accept(statement, [])
                    self._join(self._definition(statement))
                case Command(name):
                    self._fail(
                        f"/{name} is a command for the screen, not a statement.",
                        statement.span,
                        "only @agent statements can be run here",
                    )
                case _:
                    assert_never(statement)
        return self.facts

    def _accept(self, statement: Statement, tasks: list[TaskCreated]) -> None:
        text = self.source[statement.span.start : statement.span.end].strip()
        self.facts.append(StatementAccepted(self.now, text, tuple(task.task for task in tasks)))
        self.facts.extend(tasks)

    def _join(self, defined: AgentDefined) -> None:
        self.facts.append(defined)
        self.roster = self.roster.with_agents(defined)

    def _definition(self, definition: Definition) -> AgentDefined:
        name = AgentId(definition.name)
        is_taken = name in self.roster.team and name not in self.roster.promoted
        if is_taken or name in RESERVED:
            why = f"means {RESERVED[name]}" if name in RESERVED else "is taken by the team"
            self._fail(
                f"The name {name} {why}.",
                definition.name_span,
                f"give it another one: $my-{name} := {{…}}",
            )
        base = self.roster.base(definition.base)
        if base is None or base == name:
            known = tuple(each for each in self.roster.known_bases if each != name)
            near = did_you_mean(definition.base.lower(), known)
            self._fail(
                f"Unknown base: {one_line(definition.base, 40)}. Known bases: {', '.join(known)}",
                definition.field("base").value_span,
                f"did you mean {near}?" if near else 'try: base: "general-purpose"',
            )
        return AgentDefined(self.now, name, base, definition.prompt, definition.model)

    def _pipeline(self, pipeline: Pipeline) -> list[TaskCreated]:
        tasks: list[TaskCreated] = []
        upstream: list[Dependency] = []
        later = [stage.capture.name for stage in pipeline.stages if stage.capture]
        for stage in pipeline.stages:
            agents = self._agents(stage)
            if not stage.parts and not upstream and not stage.exact:
                receivers = self._agents(pipeline.stages[1])
                upstream = [
                    self.binder.agent(agent, Via.HANDOFF, span, pipeline.background, receivers)
                    for agent, span in agents.items()
                ]
                continue
            references = self.binder.references(stage.parts, self.roster, self.policy.max_references)
            variables = self.binder.variables(stage.parts, later, exact=stage.exact)
            created = [
                self._task(pipeline, stage, agent, agents, references, variables, upstream)
                for agent in agents
            ]
            for task in created:
                if cycle := self.planned_board.add(task):
                    way = " → ".join(f"@{agent}" for agent in cycle)
                    self._fail(
                        f"Circular dependency detected: {way}",
                        agents[task.agent],
                        "one of them has to start without the other's output",
                    )
            if stage.capture:
                later.remove(stage.capture.name)
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
        variables: list[Dependency],
        upstream: list[Dependency],
    ) -> TaskCreated:
        named = [
            self.binder.agent(name, Via.REFERENCE, span, pipeline.background, siblings)
            for name, span in references.items()
        ]
        named += variables
        seen = {(dependency.agent, dependency.task) for dependency in named}
        handed = [each for each in upstream if (each.agent, each.task) not in seen]
        if stage.exact:  # it is told nothing it did not ask for: only the order counts
            handed = [replace(each, via=Via.AFTER) for each in handed]
        defined = self.roster.temporary.get(agent)
        return TaskCreated(
            time=self.now,
            task=self.planned_board.next_task(agent),
            agent=agent,
            parts=stage.parts,
            dependencies=(*named, *handed),
            background=pipeline.background,
            model=(model.value or "") if (model := stage.option("model")) else None,
            capture=stage.capture.name if stage.capture else None,
            definition=defined,
            preface=defined.prompt if stage.exact and defined else "",
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
        if stage.exact:
            return self._called(stage.mentions[0])
        agents: dict[AgentId, Span] = {}
        for mention in stage.mentions:
            if mention.agent == EVERYONE:
                agents.update({agent: mention.span for agent in self.roster.team if agent not in agents})
            elif mention.agent == PERSON:
                self.binder.refuse_person(mention.span)
            elif mention.agent in self.roster.agents:
                agents.setdefault(AgentId(mention.agent), mention.span)
            else:
                self._fail_unknown(mention, first=mention is stage.mentions[0])
        return agents

    def _called(self, mention: Mention) -> dict[AgentId, Span]:
        """Return whom an exact call is for; a base joins when it is called for the first time."""
        agent = AgentId(mention.agent)
        if agent not in self.roster.agents:
            if agent not in self.roster.bases:
                if agent == PERSON:
                    self.binder.refuse_person(mention.span)
                known = self.roster.known_bases
                near = did_you_mean(agent, known)
                self._fail(
                    f"Undefined temporary agent: ${agent}. Known: {', '.join(known)}",
                    mention.span,
                    f"did you mean {near}?"
                    if near
                    else f'define it first: ${agent} := {{base: "general-purpose", prompt: "You are…"}}',
                )
            self._join(AgentDefined(self.now, agent, agent, "", None))
        return {agent: mention.span}

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
