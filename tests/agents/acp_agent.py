"""An agent that speaks ACP over plain JSON-RPC, so that it can also speak it badly.

`python acp_agent.py GO [FLAG…]`: the first word of a prompt names what it does; GO is a named pipe it reads
where it waits to be told; flags change how it starts. Whatever it does not know it answers with the prompt.
With the flag `recorded=NAME` it says again, turn by turn, what a real agent said, as kept in `recorded/`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]

ONCE = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
MODELS = [{"value": "small-1", "name": "Small"}, {"value": "large-1", "name": "Large"}]
"""With the flag `leaves` the first is offered no longer once it was left, as codex does with its own."""


class Cancelled(Exception):  # noqa: N818  the turn, not an error
    """The client cancelled the turn."""


class Failed(Exception):  # noqa: N818  it is told to the client
    """The turn fails."""


class Agent:
    """One connection to one client."""

    def __init__(self, go: str, flags: list[str]) -> None:
        self.go = go
        self.flags = set(flags)
        self.sessions = 0
        self.session = ""
        self.memory: dict[str, list[str]] = {}
        self.model = "small-1"
        self.mode = "ask"
        self.servers: list[Message] = []
        self.capabilities: Message = {}
        self.next_id = 1000
        self.request_id: object = None
        self.tokens = 0

    def send(self, message: Message) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def update(self, kind: str, /, **fields: object) -> None:
        params = {"sessionId": self.session, "update": {"sessionUpdate": kind, **fields}}
        self.send({"method": "session/update", "params": params})

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        self.update(kind, content={"type": "text", "text": text})

    def read(self) -> Message:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        message: Message = json.loads(line)
        return message

    def ask(self, method: str, params: Message) -> Message:
        """Send a request and wait for its answer."""
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": {"sessionId": self.session, **params}})
        return self.answer(self.next_id)

    def answer(self, number: int) -> Message:
        while True:
            message = self.read()
            if message.get("method") == "session/cancel":
                raise Cancelled
            if message.get("id") == number and "method" not in message:
                return message

    def permission(self, call: Message, options: list[Message] | None = None) -> str:
        answer = self.ask("session/request_permission", {"toolCall": call, "options": options or ONCE})
        outcome = answer["result"]["outcome"]
        return str(outcome.get("optionId", outcome["outcome"]))

    def until_told(self) -> None:
        with Path(self.go).open() as go:
            go.read(1)

    def until_cancelled(self) -> None:
        while self.read().get("method") != "session/cancel":
            pass
        raise Cancelled

    def serve(self) -> None:
        if "stubborn" in self.flags:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if "banner" in self.flags:
            self.raw(b'Welcome to \x1b[1mAgent\x1b[0m v1\n\n{"not": "ours"}\n[1, 2]\nnull\n\xff\xfe\n')
        if "mute" in self.flags:
            signal.pause()
        if "stillborn" in self.flags:
            sys.stderr.write("no licence\n")
            sys.exit(3)
        while True:
            message = self.read()
            method = message.get("method", "")
            handler: Callable[[Message], object] | None = getattr(
                self, "do_" + method.replace("/", "_"), None
            )
            if handler is None:
                if "id" in message:
                    self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
                continue
            self.request_id = message.get("id")
            try:
                result = handler(message.get("params", {}))
            except PermissionError:
                problem: Message = {"code": -32000, "message": "Authentication required"}
                self.send({"id": message["id"], "error": problem})
            except Failed as error:
                problem = {"code": -32603, "message": "Internal error", "data": {"details": str(error)}}
                self.send({"id": message["id"], "error": problem})
            else:
                if "id" in message and result is not None:
                    self.send({"id": message["id"], "result": result})

    def do_initialize(self, params: Message) -> Message:
        self.capabilities = params.get("clientCapabilities", {})
        return {
            "protocolVersion": 2 if "newer" in self.flags else 1,
            "agentCapabilities": {
                "loadSession": "load" in self.flags,
                "mcpCapabilities": {"http": "tools" in self.flags},
            },
            "agentInfo": {"name": "test-agent", "title": "Test Agent", "version": "1"},
            "authMethods": [{"id": "web", "name": "Log in by browser"}],
        }

    def do_session_new(self, params: Message) -> Message | None:
        if "locked" in self.flags:
            raise PermissionError
        if "never-new" in self.flags:
            return None
        self.sessions += 1
        self.session = f"session-{os.getpid()}-{self.sessions}"
        self.memory[self.session] = []
        self.servers = params["mcpServers"]
        self.meta = params.get("_meta")
        if "early" in self.flags:
            self.say("before its time")
            self.update("available_commands_update", availableCommands=[])
        return {"sessionId": self.session, **self.offers()}

    def do_session_load(self, params: Message) -> Message:
        self.session = params["sessionId"]
        self.meta = params.get("_meta")
        self.memory[self.session] = ["(loaded)"]
        self.model = "large-1" if "stays" in self.flags else self.model
        self.say("an old answer", "user_message_chunk")
        self.say("an old answer")
        return self.offers()

    def offers(self) -> Message:
        offers: Message = {}
        if "models" in self.flags:
            offers["configOptions"] = self.config()
        if "listed" in self.flags:
            known = [{"modelId": each["value"], "name": each["name"]} for each in MODELS]
            offers["models"] = {"currentModelId": self.model, "availableModels": known}
        if "modes" in self.flags:
            modes = [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]
            offers["modes"] = {"currentModeId": self.mode, "availableModes": modes}
        return offers

    def config(self) -> list[Message]:
        models = [
            each for each in MODELS if "leaves" not in self.flags or each["value"] in ("large-1", self.model)
        ]
        groups = [{"group": "all", "name": "All", "options": models}]
        return [
            {
                "id": "m",
                "name": "Model",
                "category": "model",
                "type": "select",
                "currentValue": self.model,
                "options": groups if "grouped" in self.flags else models,
            },
            {"id": "broken", "type": "no such type"},
        ]

    def do_session_set_config_option(self, params: Message) -> Message:
        if "leaves" in self.flags and params["value"] != "large-1":
            raise Failed("it is no longer offered")
        self.model = params["value"]
        return {} if "terse" in self.flags else {"configOptions": self.config()}

    def do_session_set_model(self, params: Message) -> Message:
        self.model = params["modelId"]
        return {}

    def do_session_set_mode(self, params: Message) -> Message:
        self.mode = params["modeId"]
        return {}

    def do_session_prompt(self, params: Message) -> Message | None:
        texts = [block["text"] for block in params["prompt"]]
        self.session = params["sessionId"]
        self.memory[self.session].append("".join(texts))
        word = texts[0].split(" ")[0].lower()
        behaviour = getattr(self, "on_" + word.replace("-", "_"), None)
        try:
            if behaviour is None:
                self.say(texts[0])
                return {"stopReason": "end_turn"}
            answer: Message | None = behaviour(texts[0])
        except Cancelled:
            return {"stopReason": "cancelled"}
        return answer if answer is not None else {"stopReason": "end_turn"}

    # What it does, by the first word of the prompt

    def on_stream(self, prompt: str) -> None:
        self.say(prompt, "user_message_chunk")
        self.say("one ")
        self.until_told()
        self.say("two")

    def on_order(self, prompt: str) -> None:
        for number in range(1000):
            self.say(f"{number}\n")

    def on_hang(self, prompt: str) -> None:
        self.say("ready")
        self.until_cancelled()

    def on_ignore(self, prompt: str) -> None:
        self.say("ready")
        while True:
            self.read()

    def on_error(self, prompt: str) -> NoReturn:
        self.say("half")
        raise PermissionError if "login" in prompt else Failed("out of ideas")

    def on_death(self, prompt: str) -> None:
        self.say("half")
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    def on_flood(self, prompt: str) -> None:
        for _ in range(10 * 16):
            self.say("x" * 65536)

    def on_garbage(self, prompt: str) -> None:
        self.raw(b'\xff\xfe\x00 noise\n{]\n42\n"text"\n' + b"[" * 100_000 + b"\n")
        self.raw(b'{"method": 5, "id": {}}\n{"id": [1], "result": 1}\n{"id": 99999, "result": 1}\n')
        self.raw(b'{"method": "session/update"}\n{"method": "session/update", "params": [1]}\n')
        self.raw(b'{"method": "no/such", "params": {"x": 1}}\n{"id": true, "result": {}}\n{}\n')
        self.update("no_such_update", content=[1, 2])
        self.update("agent_message_chunk", content="not a block")
        self.update("agent_message_chunk", content={"type": "image", "data": "", "mimeType": "image/png"})
        self.update("tool_call", toolCallId=5)
        self.update("plan", entries="none")
        self.update("usage_update", used="many", cost={"amount": "x"})
        self.update("usage_update", cost={"amount": 10**400, "currency": "USD"})
        self.update("tool_call", toolCallId="\ud800", title="\ud800", rawInput={"x": [{"y": "\ud800"}]})
        self.say("\x1b[2Jfi")
        self.raw(b"Warning: \xe2\x82 something\n")
        self.say("ne")

    def on_huge(self, prompt: str) -> None:
        self.raw(b"y" * 3_000_000 + b"\n")
        self.say("z" * 5_000_000)

    def on_ask(self, prompt: str) -> Message:
        call = {
            "toolCallId": "t1",
            "title": "Remove it",
            "kind": "execute",
            "status": "pending",
            "rawInput": {"command": "rm -rf build", "description": "tidy"},
        }
        self.update("tool_call", **call)
        chosen = self.permission(call)
        if chosen != "yes" and "and-end" in prompt:
            return {"stopReason": "end_turn"}
        self.say("allowed" if chosen == "yes" else f"denied ({chosen})")
        if chosen == "yes":
            self.update("tool_call_update", toolCallId="t1", status="completed")
        elif "and-cancel" in prompt:
            return {"stopReason": "cancelled"}
        elif "and-hush" in prompt:
            self.until_cancelled()
        return {"stopReason": "end_turn"}

    def on_the(self, prompt: str) -> Message:
        """Answer what the person says about a rejection, and tell what that used."""
        self.say(f"so I hear: {prompt}", "agent_message_chunk")
        used = {"inputTokens": 20, "outputTokens": 2, "totalTokens": 22}
        return {"stopReason": "end_turn", "usage": used}

    def on_do(self, prompt: str) -> None:
        """Ask permission for the call that follows as JSON, and do it if it is granted."""
        call = json.loads(prompt.partition(" ")[2])
        allowed = self.permission({"toolCallId": "t1", **call}) == "yes"
        if allowed:
            nothing = subprocess.DEVNULL
            subprocess.run(call["rawInput"]["command"], shell=True, stdin=nothing, stdout=nothing, check=True)
        self.say("done" if allowed else "denied")

    def on_ask_with_less(self, prompt: str) -> None:
        """Announce where a command runs, and ask twice without a word about it."""
        call = {"toolCallId": "t1", "title": "make", "kind": "execute"}
        self.update("tool_call", **call, rawInput={"command": "make", "workdir": "/"})
        self.permission({**call, "rawInput": {"command": "make", "patterns": ["/*"]}})
        self.say(str(self.permission({**call, "rawInput": {"command": "make"}})))

    def on_only_id(self, prompt: str) -> None:
        self.update(
            "tool_call",
            toolCallId="t1",
            title="Edit",
            kind="edit",
            content=[{"type": "diff", "path": "/a", "oldText": "1\n2\n", "newText": "1\n3\n"}],
        )
        known = self.permission({"toolCallId": "t1"})
        unknown = self.permission({"toolCallId": "t2"})
        last = [{"optionId": "forever", "name": "Always", "kind": "allow_always"}]
        self.say(f"{known} {unknown} {self.permission({'toolCallId': 't3'}, last)}")

    def on_twice(self, prompt: str) -> None:
        for number in (2001, 2002):
            call = {"toolCallId": "t1", "title": f"PermissionRequest {number}"}
            params = {"sessionId": self.session, "toolCall": call, "options": ONCE}
            self.send({"id": number, "method": "session/request_permission", "params": params})
        answers = [self.answer(2001), self.answer(2002)]
        self.say(json.dumps([answer["result"]["outcome"] for answer in answers]))

    def on_tools(self, prompt: str) -> Message:
        self.say("hm", "agent_thought_chunk")
        self.update("tool_call_update", toolCallId="new", status="in_progress")
        self.update(
            "tool_call",
            toolCallId="run",
            title="Test",
            kind="execute",
            status="in_progress",
            rawInput={"command": ["pytest", "-k", "a b"], "cwd": "/x"},
        )
        self.update(
            "tool_call",
            toolCallId="see",
            title="See",
            kind="switch_mode",
            locations=[{"path": "/a", "line": 3}, {"path": "/b"}],
        )
        self.update("tool_call_update", toolCallId="run", status="completed")
        self.update("tool_call_update", toolCallId="run", status="completed")
        self.update("plan", entries=[{"content": "look", "priority": "high", "status": "completed"}, 5])
        return {"stopReason": prompt.split(" ")[1]}

    def on_usage(self, prompt: str) -> Message:
        self.tokens += 100
        cost = {"amount": self.tokens / 1000, "currency": "USD"}
        self.update("usage_update", used=self.tokens, size=1000, cost=cost)
        self.say("done")
        usage = {"totalTokens": 95, "inputTokens": 40, "outputTokens": 20, "thoughtTokens": 5}
        return {"stopReason": "end_turn", **({"usage": usage} if "counted" in prompt else {})}

    def on_stop(self, prompt: str) -> Message:
        self.say("so far")
        return {"stopReason": prompt.split(" ")[1]}

    def on_recall(self, prompt: str) -> None:
        self.say(
            json.dumps(
                {
                    "pid": os.getpid(),
                    "session": self.session,
                    "memory": self.memory[self.session],
                    "model": self.model,
                    "mode": self.mode,
                    "meta": self.meta,
                }
            )
        )

    def on_die_after(self, prompt: str) -> None:
        self.say("bye")
        self.send({"id": self.request_id, "result": {"stopReason": "end_turn"}})
        os.kill(os.getpid(), signal.SIGKILL)

    def on_call(self, prompt: str) -> None:
        """Make the requests that follow as JSON, and say what was answered."""
        answers = []
        for method, params in json.loads(prompt.partition(" ")[2]):
            answer = self.ask(method, params)
            answers.append(answer.get("result", answer.get("error")))
        self.say(json.dumps(answers))

    def on_delegate(self, prompt: str) -> None:
        """Let another agent do what follows the word, and say what it said."""
        _, _, task = prompt.partition(" ")
        self.use_tool("spawn", {"task": task, "label": "helper"})
        self.use_tool("wait", {"runs": ["helper"]})
        self.say(json.loads(self.use_tool("output", {"run": "helper"}))["output"])

    def on_courteous(self, prompt: str) -> None:
        """Ask before a tool of the server is used, as most agents do, and before what only looks like it."""
        name, arguments = f"mcp__{self.servers[0]['name']}__spawn", {"task": "Count to three"}
        call = {"toolCallId": "c1", "title": name, "kind": "other", "rawInput": arguments}
        self.update("tool_call", **call)
        asked = self.permission(call)
        self.use_tool("spawn", arguments)
        self.update("tool_call_update", toolCallId="c1", status="completed")
        command = {"toolCallId": "c2", "title": name, "kind": "execute", "rawInput": {"command": name}}
        foreign = {**call, "toolCallId": "c3", "title": "mcp__teambot__spawn"}
        self.say(f"{asked} {self.permission(command)} {self.permission(foreign)}")

    def use_tool(self, name: str, arguments: Message) -> str:
        server = self.servers[0]
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body = json.dumps({**call, "params": {"name": name, "arguments": arguments}}).encode()
        headers = {each["name"]: each["value"] for each in server["headers"]}
        headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(server["url"], body, headers)
        with urllib.request.urlopen(request) as answer:
            *_, last = (line for line in answer if line.startswith(b"data: {"))
        return str(json.loads(last[6:])["result"]["content"][0]["text"])

    def on_servers(self, prompt: str) -> None:
        self.say(json.dumps(self.servers))

    def on_capabilities(self, prompt: str) -> None:
        self.say(json.dumps(self.capabilities))

    def on_environment(self, prompt: str) -> None:
        self.say(json.dumps(sorted(os.environ)))

    def on_noise(self, prompt: str) -> None:
        sys.stderr.write("noise " * 100_000)
        self.say("quiet")


class Recorded(Agent):
    """Says again what a real agent said; if that was loaded again later, it dies before that."""

    def __init__(self, go: str, flags: list[str], name: str) -> None:
        super().__init__(go, flags)
        path = Path(__file__).parent / "recorded" / f"{name}.json"
        self.recording: Message = json.loads(path.read_text(encoding="utf-8"))
        self.turns: list[Message] = self.recording["turns"]
        self.loads = "load" in self.recording

    def do_initialize(self, params: Message) -> Message:
        answer: Message = self.recording["initialize"]
        return answer

    def do_session_new(self, params: Message) -> Message:
        answer: Message = self.recording["new"]
        self.session = answer["sessionId"]
        return answer

    def do_session_load(self, params: Message) -> Message:
        self.session = params["sessionId"]
        self.turns, self.loads = self.recording["turns_after_load"], False
        self.say("an old answer")
        return self.play(self.recording["load"])

    def do_session_prompt(self, params: Message) -> None:
        turn = self.turns.pop(0)
        self.play(turn)
        self.send({"id": self.request_id, **{key: turn[key] for key in ("result", "error") if key in turn}})
        if self.loads and not self.turns:
            os.kill(os.getpid(), signal.SIGKILL)

    def play(self, recorded: Message) -> Message:
        for update in recorded["updates"]:
            self.send({"method": "session/update", "params": {"sessionId": self.session, "update": update}})
        answer: Message = recorded.get("result", {})
        return answer


if __name__ == "__main__":
    names = [flag.removeprefix("recorded=") for flag in sys.argv[2:] if flag.startswith("recorded=")]
    agent = Recorded(sys.argv[1], sys.argv[2:], names[0]) if names else Agent(sys.argv[1], sys.argv[2:])
    agent.serve()
