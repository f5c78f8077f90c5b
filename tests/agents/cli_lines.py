"""What the known command line agents print, shape by shape, and what is to be understood of it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from teambot_tui.engine.ports import Plan, Step, Text, Thought, ToolCall, ToolState, Update, Usage

RUNNING, DONE, FAILED = ToolState.RUNNING, ToolState.DONE, ToolState.FAILED


class Told(NamedTuple):
    """A stream as it is printed, and what it says."""

    stream: str
    lines: list[str]
    updates: list[Update]
    error: str = ""


def lines(*events: dict[str, Any]) -> list[str]:
    return [json.dumps(event) for event in events]


def piece(event: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def delta(**fields: str) -> dict[str, Any]:
    return piece({"type": "content_block_delta", "index": 0, "delta": fields})


def block_start(**block: object) -> dict[str, Any]:
    return piece({"type": "content_block_start", "index": 0, "content_block": block})


def message_start(name: str) -> dict[str, Any]:
    return piece({"type": "message_start", "message": {"id": name}})


def assistant(name: str, *content: dict[str, Any], parent: str | None = None, **more: str) -> dict[str, Any]:
    return {
        "type": "assistant",
        "message": {"id": name, "role": "assistant", "content": list(content), **more},
        "parent_tool_use_id": parent,
    }


def tool_result(call: str, **more: object) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": call, **more}]
    return {"type": "user", "message": {"role": "user", "content": content}}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def read(call: str, path: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}


def item(event: str, **fields: object) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": fields}


def copilot(kind: str, **data: object) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "x", "parentId": "y"}


def part(kind: str, **fields: object) -> dict[str, Any]:
    return {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": fields}


INIT = {"type": "system", "subtype": "init", "model": "m", "tools": []}
COMMAND = "/bin/bash -lc ls"

SHAPES = {
    "claude, in pieces that whole messages repeat": Told(
        "claude-json",
        lines(
            INIT,
            message_start("m1"),
            block_start(type="thinking", thinking=""),
            delta(type="thinking_delta", thinking="Hm."),
            assistant("m1", {"type": "thinking", "thinking": "Hm."}),
            block_start(type="text", text=""),
            delta(type="text_delta", text="Let me "),
            delta(type="text_delta", text="look."),
            assistant("m1", said("Let me look.")),
            block_start(type="tool_use", id="t1", name="Read", input={}),
            delta(type="input_json_delta", partial_json='{"file_path"'),
            assistant("m1", read("t1", "/a")),
            tool_result("t1", content="1"),
            message_start("m2"),
            block_start(type="text", text=""),
            delta(type="text_delta", text="Done."),
            assistant("m2", said("Done.")),
            {
                "type": "result",
                "subtype": "success",
                "is_error": False,
                "result": "Done.",
                "total_cost_usd": 0.25,
                "usage": {
                    "input_tokens": 1,
                    "cache_creation_input_tokens": 20,
                    "cache_read_input_tokens": 300,
                    "output_tokens": 14,
                },
            },
        ),
        [
            Thought("Hm."),
            Text("Let me "),
            Text("look."),
            ToolCall("t1", "Read", "read", RUNNING),
            ToolCall("t1", "Read", "read", RUNNING, "/a"),
            ToolCall("t1", "Read", "read", DONE, "/a"),
            Text("\n\nDone."),
            Usage(321, 14, 0.25),
        ],
    ),
    "claude, whole messages only": Told(
        "claude-json",
        lines(
            assistant("m1", said("One."), read("t1", "/a")),
            tool_result("t1", is_error=True, content="no"),
            assistant("m2", said("Two.")),
        ),
        [
            Text("One."),
            ToolCall("t1", "Read", "read", RUNNING, "/a"),
            ToolCall("t1", "Read", "read", FAILED, "/a"),
            Text("\n\nTwo."),
        ],
    ),
    "claude, a helper's words are not the answer": Told(
        "claude-json",
        lines(
            assistant("h1", said("secretly"), read("t2", "/b"), parent="t1"),
            tool_result("t2"),
            piece({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}, "t1"),
            assistant("m1", said("Openly.")),
        ),
        [
            ToolCall("t2", "Read", "read", RUNNING, "/b"),
            ToolCall("t2", "Read", "read", DONE, "/b"),
            Text("Openly."),
        ],
    ),
    "claude, an error": Told(
        "claude-json",
        lines(
            INIT,
            assistant("s1", said("Invalid API key"), model="<synthetic>"),
            {"type": "result", "subtype": "success", "is_error": True, "result": "Invalid API key"},
        ),
        [Usage()],
        "Invalid API key",
    ),
    "claude, an error without words": Told(
        "claude-json",
        lines({"type": "result", "subtype": "error_max_turns", "usage": {"output_tokens": 3}}),
        [Usage(0, 3)],
        "error max turns",
    ),
    "claude, only a result": Told(
        "claude-json",
        lines({"type": "result", "subtype": "success", "result": "Hi."}),
        [Text("Hi."), Usage()],
    ),
    "qwen, an error that it calls a success": Told(
        "claude-json",
        lines(
            message_start("m1"),
            delta(type="text_delta", text="[API Error: 400]"),
            {"type": "result", "subtype": "success", "is_error": False, "result": "[API Error: 400]"},
        ),
        [Text("[API Error: 400]"), Usage()],
        "[API Error: 400]",
    ),
    "codex": Told(
        "codex-json",
        lines(
            {"type": "thread.started", "thread_id": "1"},
            {"type": "turn.started"},
            item("completed", id="i0", type="error", message="a warning"),
            item("started", id="i1", type="todo_list", items=[{"text": "Look", "completed": False}]),
            item("completed", id="i2", type="reasoning", text="Hm."),
            item("completed", id="i3", type="agent_message", text="Let me look."),
            item("started", id="i4", type="command_execution", command=COMMAND, status="in_progress"),
            item("completed", id="i4", type="command_execution", command=COMMAND, status="completed"),
            item("started", id="i5", type="command_execution", command="rm", status="in_progress"),
            item("completed", id="i5", type="command_execution", command="rm", status="declined"),
            item(
                "completed",
                id="i6",
                type="file_change",
                changes=[{"path": "a", "kind": "add"}, {"path": "b", "kind": "update"}],
                status="completed",
            ),
            item("started", id="i7", type="mcp_tool_call", server="s", tool="t", arguments={"x": 1}),
            item("completed", id="i7", type="mcp_tool_call", server="s", tool="t", status="failed"),
            item("completed", id="i8", type="web_search", query="why"),
            item("updated", id="i1", type="todo_list", items=[{"text": "Look", "completed": True}]),
            {"type": "error", "message": "Reconnecting... 1/5"},
            item("completed", id="i9", type="agent_message", text="Done."),
            {
                "type": "turn.completed",
                "usage": {"input_tokens": 22, "cached_input_tokens": 6, "output_tokens": 14},
            },
        ),
        [
            Plan((Step("Look", "pending"),)),
            Thought("Hm.\n"),
            Text("Let me look."),
            ToolCall("i4", COMMAND, "execute", RUNNING, COMMAND),
            ToolCall("i4", COMMAND, "execute", DONE, COMMAND),
            ToolCall("i5", "rm", "execute", RUNNING, "rm"),
            ToolCall("i5", "rm", "execute", FAILED, "rm"),
            ToolCall("i6", "change 2 files", "edit", RUNNING, "add a\nupdate b"),
            ToolCall("i6", "change 2 files", "edit", DONE, "add a\nupdate b"),
            ToolCall("i7", "s.t", "other", RUNNING, '{"x": 1}'),
            ToolCall("i7", "s.t", "other", FAILED, '{"x": 1}'),
            ToolCall("i8", "web search", "fetch", RUNNING, "why"),
            ToolCall("i8", "web search", "fetch", DONE, "why"),
            Plan((Step("Look", "completed"),)),
            Text("\n\nDone."),
            Usage(22, 14),
        ],
    ),
    "codex, an error wrapped in JSON": Told(
        "codex-json",
        lines(
            {"type": "error", "message": '{"error": {"message": "no such luck"}}'},
            {"type": "turn.failed", "error": {"message": '{"error": {"message": "no such luck"}}'}},
        ),
        [],
        "no such luck",
    ),
    "gemini": Told(
        "gemini-json",
        lines(
            {"type": "init", "session_id": "1", "model": "m"},
            {"type": "message", "role": "user", "content": "the prompt"},
            {"type": "message", "role": "assistant", "content": "Let me look.", "delta": True},
            {"type": "tool_use", "tool_name": "read_file", "tool_id": "t1", "parameters": {"path": "/a"}},
            {"type": "tool_result", "tool_id": "t1", "status": "success", "output": ""},
            {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t2", "parameters": {}},
            {"type": "tool_result", "tool_id": "t2", "status": "error", "error": {"message": "no"}},
            {"type": "error", "severity": "warning", "message": "loop detected"},
            {"type": "error", "severity": "error", "message": "tried again"},
            {"type": "message", "role": "assistant", "content": "Do", "delta": True},
            {"type": "message", "role": "assistant", "content": "ne.", "delta": True},
            {"type": "message", "role": "assistant", "content": "Done."},
            {
                "type": "result",
                "status": "success",
                "stats": {"total_tokens": 36, "input_tokens": 22, "output_tokens": 14, "cached": 3},
            },
        ),
        [
            Text("Let me look."),
            ToolCall("t1", "read_file", "read", RUNNING, "/a"),
            ToolCall("t1", "read_file", "read", DONE, "/a"),
            ToolCall("t2", "run_shell_command", "execute", RUNNING),
            ToolCall("t2", "run_shell_command", "execute", FAILED),
            Text("\n\nDo"),
            Text("ne."),
            Usage(22, 14),
        ],
    ),
    "gemini, an error": Told(
        "gemini-json",
        lines(
            {"type": "result", "status": "error", "error": {"type": "x", "message": "no"}, "stats": {}},
        ),
        [Usage()],
        "no",
    ),
    "copilot": Told(
        "copilot-json",
        lines(
            copilot("session.tools_updated", model="m"),
            copilot("user.message", content="the prompt"),
            copilot("assistant.turn_start", turnId="0"),
            copilot("assistant.reasoning_delta", reasoningId="r1", deltaContent="Hm."),
            copilot("assistant.reasoning", reasoningId="r1", content="Hm."),
            copilot("assistant.message_delta", messageId="m1", deltaContent="Let me look."),
            copilot("assistant.message", messageId="m1", content="Let me look."),
            copilot("assistant.usage", inputTokens=10, outputTokens=3, cost=1),
            copilot("tool.execution_start", toolCallId="t1", toolName="bash", arguments={"command": "ls"}),
            copilot("tool.execution_complete", toolCallId="t1", success=False, error={"code": "denied"}),
            copilot("assistant.message", messageId="h", content="hidden", parentToolCallId="t1"),
            copilot("assistant.turn_start", turnId="1"),
            copilot("assistant.message", messageId="m2", content="Done."),
            copilot("assistant.usage", inputTokens=12, outputTokens=4),
            copilot("session.error", message="a passing one"),
            {"type": "result", "sessionId": "1", "exitCode": 0, "usage": {"premiumRequests": 1}},
        ),
        [
            Thought("Hm."),
            Text("Let me look."),
            Usage(10, 3),
            ToolCall("t1", "bash", "execute", RUNNING, "ls"),
            ToolCall("t1", "bash", "execute", FAILED, "ls"),
            Text("\n\nDone."),
            Usage(22, 7),
        ],
    ),
    "copilot, an error": Told(
        "copilot-json",
        lines(copilot("session.error", message="400 no such luck"), {"type": "result", "exitCode": 1}),
        [],
        "400 no such luck",
    ),
    "opencode": Told(
        "opencode-json",
        lines(
            part("step_start", type="step-start"),
            part("reasoning", type="reasoning", text="Hm."),
            part("text", type="text", text="Let me look."),
            part(
                "tool_use",
                type="tool",
                tool="read",
                callID="t1",
                state={"status": "completed", "input": {"filePath": "/a"}},
            ),
            part(
                "step_finish",
                reason="tool-calls",
                tokens={"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 100, "write": 1}},
                cost=0.5,
            ),
            part("tool_use", type="tool", tool="bash", callID="t2", state={"status": "running"}),
            part("text", type="text", text="Done."),
            part("step_finish", reason="stop", tokens={"input": 1, "output": 1}, cost=0.25),
        ),
        [
            Thought("Hm.\n"),
            Text("Let me look."),
            ToolCall("t1", "read", "read", RUNNING, "/a"),
            ToolCall("t1", "read", "read", DONE, "/a"),
            Usage(111, 7, 0.5),
            ToolCall("t2", "bash", "execute", RUNNING),
            Text("\n\nDone."),
            Usage(112, 8, 0.75),
            ToolCall("t2", "bash", "execute", FAILED),
        ],
    ),
    "opencode, a tool was denied": Told(
        "opencode-json",
        lines(
            part("step_start", type="step-start"),
            part(
                "tool_use",
                type="tool",
                tool="bash",
                callID="t1",
                state={"status": "error", "input": {"command": "rm x"}, "error": "The user rejected it."},
            ),
            part("step_finish", reason="tool-calls", tokens={"input": 1, "output": 1}, cost=0),
        ),
        [
            ToolCall("t1", "bash", "execute", RUNNING, "rm x"),
            ToolCall("t1", "bash", "execute", FAILED, "rm x"),
            Usage(1, 1, 0),
        ],
        "it stopped after a tool call: bash: The user rejected it.",
    ),
    "opencode, a tool failed and it goes on": Told(
        "opencode-json",
        lines(
            part("tool_use", tool="bash", callID="t1", state={"status": "error", "error": "no such file"}),
            part("step_finish", reason="tool-calls", tokens={"input": 1, "output": 1}, cost=0),
            part("step_start", type="step-start"),
            part("text", type="text", text="It is not there."),
            part("step_finish", reason="stop", tokens={"input": 1, "output": 1}, cost=0),
        ),
        [
            ToolCall("t1", "bash", "execute", RUNNING),
            ToolCall("t1", "bash", "execute", FAILED),
            Usage(1, 1, 0),
            Text("It is not there."),
            Usage(2, 2, 0),
        ],
        "",
    ),
    "opencode, an error": Told(
        "opencode-json",
        lines({"type": "error", "error": {"name": "APIError", "data": {"message": "no such luck"}}}),
        [],
        "no such luck",
    ),
}
