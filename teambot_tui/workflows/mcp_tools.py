"""The team tools as MCP describes them, in words a model understands."""

# No `from __future__ import annotations` here: the SDK reads the annotations to describe the parameters.

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from itertools import count
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field

from teambot_tui.engine.ids import AgentId
from teambot_tui.engine.spawning import SpawnOptions
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean
from teambot_tui.workflows.team_tools import TeamTools, TeamToolsError

Names = str | list[str]
_READS = ToolAnnotations(read_only_hint=True)
_GAP = re.compile(r"_([a-z])")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


class TeamServer(MCPServer[Any]):
    """Takes the names of arguments in snake and in camel case, and no name that a tool does not know."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: It fails, or the arguments are not its.
        """
        known = await self._known()
        if name in known:
            arguments = _named(name, arguments, known[name])
        return await super().call_tool(name, arguments, context)

    async def arguments(self) -> dict[str, frozenset[str]]:
        """Return the tools, each with the names that its arguments may be given by."""
        return {
            tool: frozenset((*names, *(_GAP.sub(lambda gap: gap[1].upper(), name) for name in names)))
            for tool, names in (await self._known()).items()
        }

    async def _known(self) -> dict[str, tuple[str, ...]]:
        return {tool.name: tuple(tool.input_schema["properties"]) for tool in await self.list_tools()}


def _named(tool: str, arguments: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for given, value in arguments.items():
        name = _HUMP.sub(lambda hump: f"_{hump[0].lower()}", given)
        if name not in known:
            near = did_you_mean(name, known)
            hint = f" Did you mean {near}?" if near else ""
            raise ToolError(f"{tool} takes no {one_line(given, 60)}.{hint} It takes: {', '.join(known)}")
        if name in named:
            raise ToolError(f"{name} is given twice.")
        named[name] = value
    return named


def add_tools(
    server: TeamServer,
    team_tools: TeamTools,
    caller: Callable[[str], AgentId],
    waited_for: Callable[[AgentId], AbstractContextManager[None]],
    beat: float,
) -> None:
    """Give a server the team tools.

    `caller` tells who shows which authorization. What may take long happens within `waited_for`,
    and its client gets a sign of life every `beat` seconds, or it would give up.
    """

    def who(context: Context[Any, Any]) -> AgentId:
        request = context.request_context.request
        return caller(request.headers.get("authorization", "") if request is not None else "")

    @asynccontextmanager
    async def taking_long(context: Context[Any, Any]) -> AsyncIterator[None]:
        with waited_for(who(context)):
            async with _signs_of_life(context, beat):
                yield

    @server.tool(structured_output=False)
    async def spawn(
        context: Context[Any, Any],
        task: Annotated[Names, Field(description="What to do; a list starts one run for each")],
        agent: Annotated[
            str | None,
            Field(description="Who does it, general-purpose unless told; list_agents tells who there is"),
        ] = None,
        base: Annotated[
            str | None,
            Field(description="Define a new agent, named by agent, that is made of this one; needs prompt"),
        ] = None,
        prompt: Annotated[
            str | None, Field(description="Who the new agent is, such as: You are a security expert")
        ] = None,
        label: Annotated[str | None, Field(description="A name by which you and others find the run")] = None,
        depends_on: Annotated[
            Names | None, Field(description="Runs, labels or agents that must complete before it starts")
        ] = None,
        chain_after: Annotated[Names | None, Field(description="The same as depends_on")] = None,
        include_dependency_result: Annotated[
            bool, Field(description="Put the results of what it depends on in front of the task")
        ] = False,
        shared_context: Annotated[
            dict[str, Any] | None,
            Field(description='What the run is told besides; {"$label": "reference"} includes a result'),
        ] = None,
        parallel: Annotated[bool, Field(description="Start the runs of a list at once")] = False,
        model: Annotated[str | None, Field(description="The model to use instead of the agent's own")] = None,
        timeout: Annotated[  # noqa: ASYNC109  the run's, not the call's
            float | None, Field(description="Seconds after which the run fails, waiting included", gt=0)
        ] = None,
        retries: Annotated[int, Field(description="How often a failed run is tried again", ge=0, le=5)] = 0,
        on_dependency_failure: Annotated[
            Literal["skip", "refuse", "proceed"],
            Field(description="What becomes of the run when something it depends on fails"),
        ] = "skip",
    ) -> str:
        """Start another agent on a task, or several. Returns at once with the ids of the runs; use wait and
        output to get the results. Runs that need others wait for them by themselves."""
        options = SpawnOptions(
            agent=agent,
            base=base,
            prompt=prompt,
            label=label,
            depends_on=depends_on,
            chain_after=chain_after,
            include_dependency_result=include_dependency_result,
            shared_context=shared_context,
            parallel=parallel,
            model=model,
            timeout=timeout,
            retries=retries,
            on_dependency_failure=on_dependency_failure,
        )
        async with taking_long(context):  # the person may be asked
            return await _answer(team_tools.spawn(who(context), task, options))

    @server.tool(structured_output=False, annotations=_READS)
    async def wait(
        context: Context[Any, Any],
        runs: Annotated[list[str], Field(description="Ids or labels of runs")],
        at_least: Annotated[
            int | None, Field(description="Be content with so many; 1 waits for any, nothing for all", ge=1)
        ] = None,
        timeout: Annotated[float, Field(description="Seconds to wait at most", gt=0, le=3600)] = 600.0,  # noqa: ASYNC109
    ) -> str:
        """Wait until runs have ended. Tells how each of them stands, also when the time is over."""
        async with taking_long(context):
            return await _answer(team_tools.wait(who(context), runs, at_least=at_least, seconds=timeout))

    @server.tool(structured_output=False, annotations=_READS)
    async def output(
        context: Context[Any, Any], run: Annotated[str, Field(description="The id or label of a run")]
    ) -> str:
        """Read what a run has said, so far or in all."""
        who(context)
        return await _answer(_now(lambda: team_tools.output(run)))

    @server.tool(structured_output=False, annotations=_READS)
    async def status(
        context: Context[Any, Any],
        runs: Annotated[
            list[str] | None, Field(description="Ids or labels; nothing means all unfinished")
        ] = None,
    ) -> str:
        """Tell how runs stand: queued, waiting for whom, executing, completed, failed, skipped, cancelled."""
        who(context)
        return await _answer(_now(lambda: team_tools.status(runs)))

    @server.tool(structured_output=False, annotations=_READS)
    async def list_agents(context: Context[Any, Any]) -> str:
        """List the agents that can be given work."""
        who(context)
        return await _answer(_now(team_tools.agents))

    @server.tool(structured_output=False, annotations=_READS)
    async def shared_context(
        context: Context[Any, Any],
        run: Annotated[
            str | None, Field(description="Another run of whoever started you; nothing means your own")
        ] = None,
    ) -> str:
        """Read the context that you share with whoever started you, or what another of its runs is told."""
        return await _answer(_now(lambda: team_tools.shared_context(who(context), run)))


@asynccontextmanager
async def _signs_of_life(context: Context[Any, Any], beat: float) -> AsyncIterator[None]:
    """Tell the client now and then that its call is still at work."""

    async def tell() -> None:
        for beats in count(1):
            await asyncio.sleep(beat)
            await context.report_progress(beats, message="waiting")

    telling = asyncio.create_task(tell(), name="signs of life")
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _now(read: Callable[[], object]) -> object:
    return read()


async def _answer(work: Awaitable[object]) -> str:
    try:
        return json.dumps(await work, ensure_ascii=False)
    except TeamToolsError as error:
        raise ToolError(str(error)) from error
