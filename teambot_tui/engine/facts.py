"""What happened, in the past tense: the one stream that the screen, the journal and `--json` all read.

Facts of the first union come from outside and move the board; feeding them to fresh rules rebuilds it. Facts
of the second are what the rules concluded from them. A fact carries its own time, so that replaying needs no
clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from teambot_tui.engine.values import value

if TYPE_CHECKING:
    from teambot_tui.engine.dependencies import Dependency
    from teambot_tui.engine.ids import AgentId, TaskId
    from teambot_tui.engine.ports import Activity, Permissions, Verdict
    from teambot_tui.language.nodes import Part


# What comes from outside


@value
class StatementAccepted:
    """A statement was understood and made these tasks."""

    time: float
    text: str
    tasks: tuple[TaskId, ...]


@value
class StatementRejected:
    """A submission was refused; nothing of it started."""

    time: float
    error: str
    line: int
    column: int
    hint: str


@value
class TaskCreated:
    """A task joined its agent's queue, its references bound once and for all.

    `label` is a name by which others find the task; from within a `scope`, only labels of the same scope are
    seen. `capture` is the variable that receives its output. A task that was started by another has it as
    `parent` and sees its shared context, extended by its own, whose values are JSON. `definition` is how its
    agent was defined at that moment, if it had joined for this session: defining it again does not change
    this task. `preface` says who the agent is in the prompt itself, so that nothing else need say it.
    """

    time: float
    task: TaskId
    agent: AgentId
    parts: tuple[Part, ...]
    dependencies: tuple[Dependency, ...]
    background: bool
    model: str | None
    label: str | None = None
    scope: str = ""
    capture: str | None = None
    definition: AgentDefined | None = None
    preface: str = ""
    parent: TaskId | None = None
    context: tuple[tuple[str, str], ...] = ()
    retries: int = 0


@value
class AgentDefined:
    """An agent joined for this session: as `base`, and with a prompt of its own on top of it."""

    time: float
    agent: AgentId
    base: str
    prompt: str
    model: str | None
    parent: TaskId | None = None
    """The task that started it, if it was not the person."""


@value
class AgentDismissed:
    """An agent that had joined for this session left it."""

    time: float
    agent: AgentId


@value
class DefaultAgentSet:
    """What is addressed to nobody goes to this agent from now on, or to nobody."""

    time: float
    agent: AgentId | None


@value
class ModelSet:
    """An agent's further tasks run on this model, or on the one that its backend chooses."""

    time: float
    agent: AgentId
    model: str | None


@value
class BackendSet:
    """An agent's further tasks run on this kind of backend."""

    time: float
    agent: AgentId
    backend: str


@value
class AgentPromoted:
    """An agent that had joined for this session is kept for later ones, under this name."""

    time: float
    agent: AgentId
    name: str


@value
class MemoryForgotten:
    """An agent's next task begins without memory of the earlier ones."""

    time: float
    agent: AgentId


@value
class ContextSet:
    """Something that every agent is told was set, as JSON, or taken back."""

    time: float
    key: str
    value: str | None


@value
class TaskExpired:
    """The task had a time to be done in, and it is over."""

    time: float
    task: TaskId
    seconds: float


@value
class TaskStarted:
    """A backend received the task: `prompt` is exactly the text that was sent."""

    time: float
    task: TaskId
    prompt: str
    system: str
    model: str | None


@value
class TextProduced:
    """The agent said something more; the text is clean."""

    time: float
    task: TaskId
    text: str


@value
class ActivityReported:
    """The agent thought, used a tool, made a plan or told what it has used; all text in it is clean."""

    time: float
    task: TaskId
    activity: Activity


@value
class WaitStarted:
    """The agent of a task at work waits for other tasks; it may be in several waits, told apart by `wait`."""

    time: float
    task: TaskId
    wait: int
    tasks: tuple[TaskId, ...]


@value
class WaitEnded:
    """The agent goes on: what it waited for has ended, or it waits no longer."""

    time: float
    task: TaskId
    wait: int


@value
class PermissionAsked:
    """The agent wants to do something and waits for permission.

    `tool`, `kind` and `detail` are what the person is shown of it, and `is_whole` says that this is all of
    it; `key` is the same for no other request. `acts` is whether it carries a command or a change, `policy`
    what the agent's settings say, `attended` whether somebody is there to be asked.
    """

    time: float
    task: TaskId
    request: str
    tool: str
    kind: str
    detail: str
    policy: Permissions
    attended: bool
    key: str
    acts: bool = False
    is_whole: bool = True


@value
class PermissionAnswered:
    """The person decided; `always` counts for exactly the same request of this agent from now on.

    `words` are what the person tells the agent besides, such as what to do instead.
    """

    time: float
    task: TaskId
    request: str
    verdict: Verdict
    always: bool
    words: str = ""


@value
class BudgetSet:
    """The person allows this much in all, in US dollars and in tokens; None is no limit."""

    time: float
    cost: float | None
    tokens: int | None


@value
class UpStarted:
    """A workflow that is kept in a file began; `up` is its name among those of this session.

    `tasks` are the labels of its tasks, each of which every iteration makes again in every one of `scopes`;
    `pipeline` is empty if the tasks were named, or all were meant. `run` tells where outputs are kept.
    """

    time: float
    up: str
    run: str
    file: str
    pipeline: str
    tasks: tuple[str, ...]
    scopes: tuple[str, ...]
    iterations: int


@value
class IterationStarted:
    """The tasks that are made in this scope from now on belong to this iteration, counted from 1."""

    time: float
    up: str
    scope: str
    iteration: int


@value
class UpEnded:
    """No more iterations come, and all tasks have ended; `reason` says why, if it is over before its time."""

    time: float
    up: str
    reason: str


@value
class WorkEnded:
    """The backend is done with the task and nothing of it runs any more."""

    time: float
    task: TaskId
    error: str | None


@value
class CancelRequested:
    """Someone wants these tasks to stop."""

    time: float
    tasks: tuple[TaskId, ...]


@value
class RetryRequested:
    """Someone wants this task, and what was skipped because of it, done again."""

    time: float
    task: TaskId


@value
class TimePassed:
    """The clock moved on."""

    time: float


@value
class InputEnded:
    """Nobody will submit anything more: an agent that no task could start any more stays without output."""

    time: float


@value
class SubscriberFailed:
    """A reader of the bus broke on a fact; the others were served."""

    time: float
    subscriber: str
    reason: str


# What the rules conclude


@value
class TaskQueued:
    """The task could run, but as many agents as allowed are at work."""

    time: float
    task: TaskId


@value
class TaskWaiting:
    """The task is its agent's next and lacks outputs, in the order of its references.

    `no_output_yet` are those among them that nobody has begun to produce.
    """

    time: float
    task: TaskId
    waiting_for: tuple[AgentId, ...]
    no_output_yet: tuple[AgentId, ...]


@value
class WaitProlonged:
    """The task has waited longer than usual for tasks that have not ended, and waits on."""

    time: float
    task: TaskId
    waiting_for: tuple[AgentId, ...]
    seconds: float


@value
class DependencyMet:
    """A waiting task no longer waits for this agent."""

    time: float
    task: TaskId
    agent: AgentId


@value
class TaskCompleted:
    """The task has its output."""

    time: float
    task: TaskId
    output: str
    seconds: float


@value
class TaskFailed:
    """The task ended without a usable output."""

    time: float
    task: TaskId
    reason: str


@value
class TaskSkipped:
    """The task never ran, because something it depends on did not complete."""

    time: float
    task: TaskId
    reason: str


@value
class TaskCancelled:
    """The task was stopped by request."""

    time: float
    task: TaskId


@value
class TaskRetried:
    """The task is queued again, as if it had never ended."""

    time: float
    task: TaskId


@value
class TaskDelayed:
    """The task failed and is tried again by itself, not before `until`."""

    time: float
    task: TaskId
    reason: str
    until: float
    attempt: int


@value
class PermissionSettled:
    """An agent no longer waits for leave: it has an answer or, with no verdict, its task is over."""

    time: float
    task: TaskId
    request: str
    verdict: Verdict | None
    why: str
    words: str = ""
    """What the person told the agent besides."""


@value
class BudgetReached:
    """What was allowed is used up: nothing more starts until more is allowed."""

    time: float
    cost: float
    tokens: int


Input: TypeAlias = (
    TextProduced
    | ActivityReported
    | WaitStarted
    | WaitEnded
    | PermissionAsked
    | PermissionAnswered
    | BudgetSet
    | AgentDefined
    | AgentDismissed
    | DefaultAgentSet
    | ModelSet
    | BackendSet
    | AgentPromoted
    | MemoryForgotten
    | ContextSet
    | TaskExpired
    | WorkEnded
    | TaskStarted
    | TaskCreated
    | StatementAccepted
    | StatementRejected
    | CancelRequested
    | RetryRequested
    | TimePassed
    | InputEnded
    | UpStarted
    | IterationStarted
    | UpEnded
    | SubscriberFailed
)

Conclusion: TypeAlias = (
    TaskQueued
    | TaskWaiting
    | WaitProlonged
    | DependencyMet
    | TaskCompleted
    | TaskFailed
    | TaskSkipped
    | TaskCancelled
    | TaskRetried
    | TaskDelayed
    | PermissionSettled
    | BudgetReached
)

Fact: TypeAlias = Input | Conclusion
