"""A session as a person types it, from the first screen to the last key."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.cost import count_to_a_million, least
from tests.pty.terminal import KEYS, Terminal, agents

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pty.conftest import Open

FIRST = "@pm,ba Analyse a login page -> @builder-1 Build it"
_COLOURS = re.compile(rb"\x1b\[[0-9;]*?(?<![0-9])(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


class Gates:
    """Agents that answer when the test opens their gate."""

    def __init__(self, folder: Path, *names: str) -> None:
        self._gates = {name: folder / f"gate-{name}" for name in names}
        for gate in self._gates.values():
            os.mkfifo(gate)
        self.settings = agents(
            **{name: f"print(open({str(gate)!r}).read())" for name, gate in self._gates.items()}
        )

    def open(self, name: str, answer: str) -> None:
        """Let the agent answer."""
        self._gates[name].write_text(answer, encoding="utf-8")


def badges(terminal: Terminal) -> dict[str, str]:
    """Return what the panels say, by agent and without the times: cards, and lines of those without one."""
    cards = re.findall(r"╭ \d @([\w-]+) .*╮.*\n│.*\n│ (.*?) *│", terminal.text)
    lines = re.findall(r" \d ([\w-]+) +([○◌◷●✓✗⊘⊗](?: [^\s\d│]\S*)?)", terminal.text)
    return dict([*lines, *cards])


def until_badge(terminal: Terminal, agent: str, words: str) -> None:
    """Read until a panel says so."""
    terminal.watch(lambda: badges(terminal).get(agent) == words)


@pytest.mark.parametrize(
    ("columns", "rows", "words"),
    [
        (80, 24, {"executing": "● exec", "waiting": "◷ ", "completed": "✓ done", "idle": "○ idle"}),
        (120, 40, {"executing": "● executing", "waiting": "◷ waiting for ", "completed": "✓", "idle": "○"}),
    ],
)
def test_a_whole_session(
    tmp_path: Path, open_terminal: Open, columns: int, rows: int, words: dict[str, str]
) -> None:
    gates = Gates(tmp_path, "pm", "ba")
    terminal = open_terminal(columns=columns, rows=rows, settings=gates.settings)

    # The welcome, and its first example at the press of two keys
    terminal.until("Your team", "1 @pm", FIRST, "Tab complete")
    assert badges(terminal)["pm"] == words["idle"]
    terminal.press("tab")
    terminal.until("@pm, @ba start", "@builder-1 waits for @pm, @ba", "Enter send")
    terminal.press("enter")
    for agent in ("pm", "ba"):
        until_badge(terminal, agent, words["executing"])
    until_badge(terminal, "builder-1", words["waiting"] + ("@pm,ba" if columns < 100 else "@pm, @ba"))
    terminal.until("●2 ◷1", without="Your team")

    # One of two is not enough
    gates.open("ba", "the needs")
    until_badge(terminal, "ba", words["completed"])
    until_badge(terminal, "builder-1", words["waiting"] + "@pm")
    gates.open("pm", "the plan")
    for agent in ("pm", "builder-1"):
        until_badge(terminal, agent, words["completed"])
    terminal.until("✓3", "the needs", "the plan", "Build it")

    # A mistake is said, kept and mended
    terminal.type("@bob x")
    terminal.until("✗ 1:", "bob")
    terminal.press("enter")
    terminal.until("› @bob x")
    terminal.press(*["backspace"] * 5)
    terminal.type("reviewer look at $pm")
    terminal.until("› @reviewer look at $pm", "@reviewer starts", "$pm ✓")
    terminal.press("enter")
    until_badge(terminal, "reviewer", words["completed"])
    terminal.until("▏ look at [Output from @pm]: the plan", "│›      ")
    if rows >= 30:
        terminal.until("$pm ← pm#1 ✓")

    # The graph and back
    terminal.press("f3")
    terminal.until("critical path", "✓ look at $pm", "t timeline", without="▏ the plan")
    terminal.press("f3")
    terminal.until("▏ the plan", "Tab complete", without="t timeline")  # the whole line of keys is drawn

    # The inspector of the first panel, from the input by the keyboard
    terminal.press("shift+tab")
    terminal.until("i input")
    unchosen = terminal.look("1 pm")
    terminal.type("1")
    terminal.watch(lambda: terminal.look("1 pm") != unchosen)
    terminal.press("enter")
    terminal.until("@pm · pm#1", "Prompt · as it was sent", "  the plan", without="▏ the needs")
    terminal.press("escape")
    terminal.until("▏ the needs", "Tab complete", without="Prompt · as it was sent")

    # A command
    terminal.enter("/status")
    terminal.until("─ Status 1/6 ─", "@reviewer   ✓ completed", "Esc\u00a0close")
    terminal.press("escape")
    terminal.until("Tab complete", without="─ Status")

    terminal.press("ctrl+q")
    assert terminal.wait() == 0
    terminal.assert_restored()


@pytest.mark.parametrize(
    ("arguments", "environ"), [(("--ascii",), {}), ((), {"TERM": "linux"})], ids=["--ascii", "TERM=linux"]
)
def test_ascii_only(open_terminal: Open, arguments: tuple[str, ...], environ: dict[str, str]) -> None:
    terminal = open_terminal(*arguments, columns=120, rows=40, **environ)
    terminal.until("Your team")
    terminal.press("tab")
    terminal.until("@pm, @ba start")
    terminal.press("enter")
    terminal.until("1 pm        + 0:", "+3", "| Analyse a login page")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0
    foreign = {character for character in terminal.raw.decode() if ord(character) > 126}
    assert foreign <= set("—"), foreign  # the personas' own words


def test_no_colour(tmp_path: Path, open_terminal: Open) -> None:
    gates = Gates(tmp_path, "pm")
    terminal = open_terminal(columns=120, rows=40, settings=gates.settings, NO_COLOR="1")
    terminal.until("Your team")
    terminal.enter("@pm plan -> @ba check")
    terminal.until("│ ● executing", "│ ◷ waiting for @pm")
    gates.open("pm", "```python\nprint('a plan')\n```")
    terminal.until("✓2", "a plan")
    terminal.press("f3")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0
    assert _COLOURS.search(bytes(terminal.raw)) is None


def test_keys_and_calls_of_the_persons_own(open_terminal: Open) -> None:
    settings = 'backend = "echo"\nnotify = ["bell", "osc9"]\n[keys]\nsend = "ctrl+s"\nquit = "ctrl+n"\n'
    terminal = open_terminal(settings=settings)
    terminal.until("Your team", "Tab complete")
    terminal.type("@pm plan &")
    terminal.until("^S send")
    terminal.press("ctrl+s")
    terminal.watch(lambda: b"\a\x1b]9;teambot: pm#1 completed\a" in terminal.raw)
    terminal.until("✓1", without="pm#1 completed")
    terminal.press("ctrl+n")
    assert terminal.wait() == 0


def test_a_key_that_cannot_be_used_is_said_before_the_screen_opens(open_terminal: Open) -> None:
    terminal = open_terminal(settings='[keys]\ngraph = "alt+1"\n')
    assert terminal.wait() == 2
    assert "keys.graph: alt+1" in terminal.text.replace("\n", "")
    assert 1049 not in terminal.modes


def test_the_first_frame_has_the_right_layout(open_terminal: Open) -> None:
    terminal = open_terminal(columns=120, rows=40)
    terminal.until("Your team", " 1 pm        ○ ", "Tab complete")
    assert "○ idle".encode() not in terminal.raw, "no chips where there is room for a column"


def test_the_welcome_of_a_small_terminal_is_whole(open_terminal: Open) -> None:
    terminal = open_terminal(settings="")
    terminal.until(
        "Worth typing", "Everyone rehearses", "1 @pm", "6 @writer", "teambot doctor", "Tab complete"
    )


def test_a_burst_of_keys_keeps_its_order(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.until("Your team", "Tab complete")
    terminal.type("@bob x" + KEYS["backspace"] * 5 + "pm b" + KEYS["left"] + "a" + KEYS["end"] + "c\r")
    terminal.until("✓1", "▏ abc")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0


def test_lines_in_one_burst_stay_apart(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.until("Your team", "Tab complete")
    terminal.type("@pm first\r@ba second\r")
    terminal.until("✓2")
    assert "first@ba" not in terminal.text


def test_it_is_there_soon_and_in_colour(open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.until("Your team", "Tab complete")
    assert sum(terminal.process.cpu_times()[:2]) < 160 * least(count_to_a_million, 3)
    assert _COLOURS.search(bytes(terminal.raw)), "what the test without colour looks for"


def test_a_temporary_agent_is_a_file_until_the_session_ends(tmp_path: Path, open_terminal: Open) -> None:
    terminal = open_terminal(settings=agents(pm="print('seen')"))
    terminal.until("1 @pm", "Tab complete")
    terminal.enter('$scanner := {base: "pm", prompt: "You look."}')
    terminal.until("~scanner")
    file = tmp_path / ".teambot" / "temp-agents" / "scanner.md"
    terminal.watch(file.exists)
    terminal.enter("@scanner go")
    terminal.until("seen")
    terminal.watch(lambda: "✓1" in terminal.text)
    terminal.press("ctrl+q")
    terminal.until("Keep temporary agents?", "[ ] ~scanner")
    terminal.type("n")
    assert terminal.wait() == 0
    assert not file.exists()
    terminal.assert_restored()


FLOW = """\
version: "1"
tasks:
  planner: {agent: pm, prompt-string: Plan it}
  coder: {prompt-string: "Code {{iteration}}", depends_on: [planner]}
pipelines:
  main: {iterations: 2}
"""


def test_up_on_a_terminal_is_shown_first_and_then_runs(tmp_path: Path, open_terminal: Open) -> None:
    (tmp_path / "teambot.yaml").write_text(FLOW, encoding="utf-8")
    terminal = open_terminal("up", "--backend", "echo")
    terminal.until("teambot.yaml · main · 2 tasks · 2 iterations", "○ planner", "○ coder", "Enter runs")
    terminal.press("enter")
    terminal.until("main is done: 4 completed.", "coder")
    terminal.press("escape")
    terminal.until("Code You are on iteration 2 of 2", "iteration 2")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0


def test_up_that_cannot_run_says_why_and_opens_nothing(open_terminal: Open) -> None:
    terminal = open_terminal("up", "main", "--iterations", "3")
    assert terminal.wait() == 2
    assert "has no teambot.yaml and no swarm/swarm.yaml" in terminal.text.replace("\n", "")


@pytest.mark.parametrize(
    "name", [".git/HEAD", ".teambot/outputs", "AGENTS.md", ".local/state/teambot/history.jsonl"]
)
def test_a_pipe_where_a_file_is_expected_does_not_hold_it_up(
    tmp_path: Path, open_terminal: Open, name: str
) -> None:
    pipe = tmp_path / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    terminal = open_terminal()
    terminal.until("Your team", "Tab complete")
    terminal.enter("@pm Hello")
    terminal.until("✓ @pm ", "pm#1 · ", "▏ Hello")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0
    assert b"Traceback" not in terminal.raw
