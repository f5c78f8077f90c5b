"""Scenes for pictures: one believable session, played step by step on a clock that stands still in between.

The pictures of the README and the snapshots of the tests come from here, so neither shows what the other
does not.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from textual.widgets import Input

from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Plan, Step, Text, Thought, ToolCall, ToolState, Usage
from teambot_tui.ui.app import TeambotApp
from teambot_tui.ui.glyphs import Glyphs
from teambot_tui.ui.setup import ScreenSetup
from teambot_tui.ui.widgets.inspector import Inspector
from tests.team import Busy
from tests.ui.stage import NORMAL, Clock, Stage, output_of, session_on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from teambot_tui.engine.ports import Update

    Scene = Callable[[Stage], Awaitable[None]]

NINE: Final = 1_767_603_600.0
"""Monday, 5 January 2026, 9:00:00 UTC."""

DARK, LIGHT = "teambot-dark", "teambot-light"

_DESCRIPTIONS: Final = {
    "pm": "plans: goals, order, what is out of scope",
    "ba": "analyses: requirements, cases, edges",
    "builder-1": "builds what was planned",
    "builder-2": "builds what was planned",
    "reviewer": "checks against plan and requirements",
    "writer": "writes it down for people",
}
_RUNS_ON: Final = {
    "pm": "claude",
    "ba": "claude",
    "builder-1": "codex",
    "builder-2": "codex",
    "reviewer": "claude",
    "writer": "ollama",
}

FIRST: Final = "@pm,ba Plan login with passkeys -> @builder-1 Build it"
SECOND: Final = "@reviewer Check $builder-1 against $pm"
THIRD: Final = "@writer Write the release note from $builder-1 &"
SECURITY: Final = """\
$security-scanner := {base: "reviewer", prompt: "You are a security expert.", model: "opus"}
$fixer := {base: "builder-1", prompt: "Fix security issues while maintaining functionality."}

$security-scanner:"Scan authentication and authorization code":issues ->
$fixer:"Fix the following issues: {issues}":fixes ->
reviewer:"Verify fixes are complete\""""
COMPOSE: Final = """\
version: "1"
context: {goal: "Passkeys for every account"}
tasks:
  planner: {agent: pm, prompt-string: "Plan the next step. {{output:evaluator}}"}
  linter: {prompt-string: "Lint what is there."}
  coder:
    prompt-string: "Build this: {{output:planner}}"
    model: opus
    depends_on: [planner, {task: linter, condition: any}]
  tester: {prompt-string: "Test what was built.", depends_on: [coder]}
  mender: {prompt-string: "Mend what failed.", depends_on: [{task: tester, condition: failure}]}
  evaluator:
    agent: reviewer
    prompt-string: "Judge this: {{output:coder}}"
    depends_on: [tester, {task: mender, condition: any}]
pipelines:
  main: {iterations: 3}
"""
TWELVE: Final = """\
$schema := {base: "builder-1", prompt: "You care for the database."}
$api := {base: "builder-1", prompt: "You build the API."}
$frontend := {base: "builder-1", prompt: "You build the pages."}
$billing := {base: "builder-1", prompt: "You build the invoices."}
$mails := {base: "builder-1", prompt: "You build the mails."}
$tester := {base: "reviewer", prompt: "You test."}
@pm,ba Plan the shop -> @schema,api,frontend,billing,mails Build your part -> @tester Test it all
@reviewer Review $api against $pm
@writer Write the manual from $frontend
@builder-1 Repair what $tester finds
@builder-2 Release it when $reviewer agrees with $tester"""
MISTAKEN: Final = "@reviewer Check $bilder-1 against $pm"

PLAN: Final = """\
# Login with passkeys

1. **Register**: an account adds a passkey, the password stays
2. **Sign in**: passkey first, password as the way back
3. **Recover**: one e-mail link, ten minutes, used once

Out of scope: removing passwords, sign-in with Google.

## Order

- the `credentials` table and its migration
- `/passkey/register` and `/passkey/login`
- the button on the login page, behind `passkeys = on`
"""
NEEDS: Final = """\
# Requirements

- A challenge is random, is used **once** and dies after 60 s
- Two accounts never share a credential id
- The sign counter only grows; a smaller one is refused and logged
- Without WebAuthn in the browser the page looks as it does today

Open: how many passkeys may an account have? Assumed five.
"""
BUILT: Final = """\
# Built

All three steps, with the flag off:

```python
def verify(self, answer: Answer, credential: Credential) -> None:
    if not self.challenges.spend(answer.challenge):
        raise Refused("the challenge was used or is too old")
    if answer.counter <= credential.counter:
        raise Refused("the sign counter went back")
```

- `migrations/0007_credentials.sql`
- `auth/passkey.py`, `auth/challenges.py`
- 31 tests, all green; nothing else touched
"""
CHECKED: Final = """\
# Verdict: ready, with one remark

- [x] challenges are spent before they are compared
- [x] the counter is checked; the refusal is logged
- [x] the flag hides the button **and** the routes

**Remark**: `challenges.spend` deletes by value; add an index before the flag goes on.
"""
HOLES: Final = """\
# Two holes

1. **Session fixation**: the session id survives the sign-in
2. **Open redirect**: `next` takes any address, `//evil.example` too
"""
FLAKY: Final = "@builder-2 Make test_challenge_expires steady"
DIFF: Final = """\
--- tests/test_challenges.py
+++ tests/test_challenges.py
@@ -14,7 +14,7 @@
 def test_challenge_expires(clock: Clock) -> None:
     challenges = Challenges(clock)
     challenge = challenges.issue()
-    time.sleep(61)
+    clock.advance(61)
     assert not challenges.spend(challenge)
"""
NOTE: Final = """\
You can now add a passkey under *Account, Security* and sign in without typing a password.
Your password keeps working.
"""


class Script(Busy):
    """Says what it is told, piece by piece, and completes when it is told."""

    def say(self, task: str, text: str) -> None:
        """Let a task say something and go on."""
        self.tell(task, Text(text))


@contextmanager
def fixed_surroundings() -> Iterator[None]:
    """Keep the machine out of the picture: its time zone, and its request for other colours."""
    before = dict(os.environ)
    for name in ("NO_COLOR", "TEXTUAL_COLOR_SYSTEM", "TEXTUAL_ANIMATIONS"):
        os.environ.pop(name, None)
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


@asynccontextmanager
async def on_scene(size: tuple[int, int] = NORMAL, theme: str = DARK) -> AsyncIterator[Stage]:
    """Open the app on a scripted team at nine o'clock."""
    script, clock = Script(), Clock(NINE)
    session = session_on(script, clock)
    place = ScreenSetup(
        folder=Path("/nowhere/shop"),
        backends={AgentId(agent): name for agent, name in _RUNS_ON.items()},
        descriptions={AgentId(agent): words for agent, words in _DESCRIPTIONS.items()},
        models=session.models,
        glyphs=Glyphs(),
        wall_clock=clock.wall,
    )
    app = TeambotApp(lambda: session, place)
    app.animation_level = "none"
    with fixed_surroundings():
        async with app.run_test(size=size, notifications=True) as pilot:
            app.theme = theme
            stage = Stage(app, pilot, script, clock)
            await stage.screen.is_complete.wait()
            stage.screen.query_one("#find", Input).cursor_blink = False
            await pilot.pause()
            yield stage


# The acts: each goes on where the one before it has ended.


async def typed(stage: Stage) -> None:
    """The first line is half typed."""
    await stage.type_text("@pm,ba Plan login with passkeys")


async def planned(stage: Stage) -> None:
    """The first line is complete, and the plan line says what Enter would do."""
    await stage.type_text(FIRST)


async def completing(stage: Stage) -> None:
    """While two work and others wait, an output is chosen to go in."""
    await building(stage)
    await stage.type_text("@writer Sum up $")
    await stage.press("down")


async def pasted(stage: Stage) -> None:
    """A long paste stands in the input, in a line."""
    await stage.type_text("@reviewer Find what is wrong in ")
    stage.bar.take_in("".join(f"{number:03} GET /login 500\n" for number in range(1, 200)))
    await stage.type_text(" and say why")


async def finding(stage: Stage) -> None:
    """A word is looked for in all output."""
    await building(stage)
    await stage.press("ctrl+f")
    await stage.type_text("passkey")
    await stage.press("enter", "enter")


async def working(stage: Stage) -> None:
    """Two work, one waits for both, another one for that one."""
    await stage.enter(FIRST, made=3)
    await _later(stage, 7)
    await stage.enter(SECOND, made=4)
    await _later(stage, 24)
    await _say(stage, "pm#1", PLAN[: PLAN.index("Out of")])
    await _say(stage, "ba#1", NEEDS[: NEEDS.index("- The sign")])
    await _later(stage, 4)


async def building(stage: Stage) -> None:
    """The two have answered, the third has begun, and something waits in the background."""
    await working(stage)
    await _later(stage, 6)
    await stage.answer("ba#1", NEEDS[NEEDS.index("- The sign") :])
    await _later(stage, 7)
    await stage.answer("pm#1", PLAN[PLAN.index("Out of") :])
    await stage.until(lambda: stage.state("builder-1#1") == "executing", "builder-1 to begin")
    await _later(stage, 5)
    await stage.enter(THIRD, made=5)
    await _later(stage, 40)
    await _say(stage, "builder-1#1", BUILT[: BUILT.index("- `auth")])
    await _later(stage, 9)


async def done(stage: Stage) -> None:
    """Everybody has answered."""
    await building(stage)
    await stage.answer("builder-1#1", BUILT[BUILT.index("- `auth") :])
    await _later(stage, 18)
    await stage.answer("writer#1", NOTE)
    await _later(stage, 13)
    await stage.answer("reviewer#1", CHECKED)
    await _later(stage, 2)
    stage.app.clear_notifications()  # they go by the real time


async def mistaken(stage: Stage) -> None:
    """A name is wrong: the text stays, and the plan line points at it."""
    await working(stage)
    await stage.enter(MISTAKEN)


async def inspected(stage: Stage) -> None:
    """The builder is inspected while it works."""
    await building(stage)
    await stage.pilot.click("#panel-builder-1")
    await stage.until(lambda: stage.screen.focused is stage.screen.query_one(Inspector), "the inspector")


async def drawn(stage: Stage) -> None:
    """The graph of all tasks."""
    await building(stage)
    await stage.press("f3")


async def timeline(stage: Stage) -> None:
    """Who did what when, at the end."""
    await done(stage)
    await stage.press("f3", "t")


async def all_six(stage: Stage) -> None:
    """Everybody has something to do: four work, one needs the person, one waits."""
    await building(stage)
    await stage.enter(FLAKY, made=6)
    await _say(stage, "builder-2#1", "The order of two fixtures decides: `db` before `clock`. I change")
    await _say(stage, "reviewer#1" if stage.state("reviewer#1") == "executing" else "builder-1#1", "\n")
    await stage.enter("@pm Plan the roll-out for five accounts", made=7)
    await stage.enter("@ba Which support questions will come?", made=8)
    await _later(stage, 12)
    await _say(stage, "pm#2", "# Roll-out\n\n1. Five of us, on Monday\n2. ")
    await _say(stage, "ba#2", "- “I lost my phone”: the way back by e-mail")
    await _ask(stage, "builder-2#1", "pytest -q tests/test_login.py", "Run", "execute")
    await _later(stage, 3)
    stage.app.clear_notifications()


async def fanned_out(stage: Stage) -> None:
    """Twelve tasks: one plan, many builders beside each other, joined, checked and written down."""
    await stage.paste(TWELVE, made=12)
    for seconds, task in ((9, "pm#1"), (14, "ba#1")):
        await _later(stage, seconds)
        await stage.answer(task, PLAN)
    for seconds, task in ((31, "api#1"), (6, "schema#1")):
        await _later(stage, seconds)
        await stage.answer(task, "Done.")
    await _later(stage, 11)
    await stage.press("f3")


async def temporary(stage: Stage) -> None:
    """Two agents that were defined a moment ago: one has looked for holes, the other mends them."""
    await stage.paste(SECURITY, made=3)
    await _later(stage, 31)
    await stage.answer("security-scanner#1", HOLES)
    await stage.until(lambda: stage.state("fixer#1") == "executing", "the fixer to begin")
    await _later(stage, 12)
    await _say(stage, "fixer#1", "Fixed 1: the session id is renewed at sign-in, and ")
    await stage.type_text("@writer Write an advisory from {issues} and {fixes}")
    await _later(stage, 3)


async def asking(stage: Stage) -> None:
    """One builder wants to run something, the other one to change a file."""
    await building(stage)
    await stage.enter(FLAKY, made=6)
    await _tell(
        stage,
        "builder-1#1",
        Plan((Step("the table", "completed"), Step("the routes", "in_progress"), Step("tests", "pending"))),
        Thought("The counter must be compared after the challenge is spent, or a replay could pass."),
        ToolCall("1", "Read auth/session.py", "read", ToolState.DONE),
        ToolCall("2", "Edit auth/passkey.py", "edit", ToolState.DONE),
        ToolCall("3", "Run the tests", "execute", ToolState.PENDING, "pytest -q tests/test_passkey.py"),
        Usage(10_900, 1_500, 0.21),
    )
    await _tell(
        stage,
        "builder-2#1",
        ToolCall("1", "Edit tests/test_challenges.py", "edit", ToolState.PENDING),
        Usage(3_100, 250, 0.04),
    )
    await _later(stage, 3)
    await _ask(stage, "builder-1#1", "pytest -q tests/test_passkey.py", "Run the tests", "execute")
    await _ask(stage, "builder-2#1", DIFF, "Edit tests/test_challenges.py", "edit")
    await _later(stage, 6)
    stage.app.clear_notifications()  # they go by the real time


async def approving(stage: Stage) -> None:
    """The inbox is open at the second request."""
    await asking(stage)
    await stage.press("f8", "down")


async def listed(stage: Stage) -> None:
    """The table of all tasks while the team works."""
    await asking(stage)
    await stage.press("ctrl+t", "down")


async def helped(stage: Stage) -> None:
    """What the help says of a word."""
    await stage.press("f1", "slash")
    for line in stage.app.screen.query(Input):
        line.cursor_blink = False
    await stage.type_text("approv")
    await stage.until(lambda: "approv 1/" in stage.dialog, "what was found")


async def side_by_side(stage: Stage) -> None:
    """Two builders did the same task."""
    await stage.paste("@builder-1,builder-2 Plan login with passkeys", made=2)
    await _later(stage, 31)
    await stage.answer("builder-1#1", PLAN)
    await _later(stage, 12)
    await stage.answer("builder-2#1", PLAN.replace("ten minutes", "an hour").replace("## Order", "## Steps"))
    stage.app.clear_notifications()
    await stage.paste("/compare builder-1")
    await stage.until(lambda: "differences" in stage.dialog, "the comparison")


async def _tell(stage: Stage, task: str, *updates: Update) -> None:
    assert isinstance(stage.gate, Script)
    script = stage.gate
    await stage.until(lambda: task in script.started, f"{task} to start")
    await stage.ask(lambda _: script.tell(task, *updates))
    usage = updates[-1]
    await stage.until(lambda: stage.app.views.task(TaskId(task)).doing.usage == usage, "it to be known")


async def _ask(stage: Stage, task: str, detail: str, tool: str, kind: str) -> None:
    assert isinstance(stage.gate, Script)
    script = stage.gate
    await stage.ask(lambda _: script.ask(task, detail, tool=tool, kind=kind))
    await stage.until(lambda: stage.app.views.task(TaskId(task)).requests, "the request")


async def previewed(stage: Stage) -> None:
    """A workflow is shown before it starts."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "teambot.yaml"
        file.write_text(COMPOSE, encoding="utf-8")
        await stage.paste(f"/up {file}")
        await stage.until(lambda: stage.dialog, "the preview")


async def upped(stage: Stage) -> None:
    """The workflow is in its second iteration."""
    await previewed(stage)
    await stage.press("enter")
    await stage.until(lambda: len(stage.app.views.tasks()) == 6, "the first iteration")
    for task, seconds in (
        ("linter#1", 9),
        ("pm#1", 14),
        ("coder#1", 48),
        ("tester#1", 21),
        ("reviewer#1", 7),
    ):
        await _later(stage, seconds)
        await stage.answer(task, PLAN if task == "pm#1" else "Done.")
    await stage.until(lambda: len(stage.app.views.tasks()) == 12, "the second iteration")
    await _later(stage, 11)
    await stage.answer("linter#2", "Nothing to say.")
    await _say(stage, "pm#2", "The next step is the button on the login page.")
    await _later(stage, 2)


async def _later(stage: Stage, seconds: float) -> None:
    stage.clock.now += seconds


async def _say(stage: Stage, task: str, text: str) -> None:
    assert isinstance(stage.gate, Script)
    script = stage.gate
    await stage.until(lambda: task in script.started, f"{task} to start")
    await stage.ask(lambda _: script.say(task, text))
    await stage.until(lambda: output_of(stage.app, task).endswith(text), f"{task} to say it")


# The pictures


async def picture(scene: Scene | None, size: tuple[int, int] = NORMAL, theme: str = DARK) -> str:
    """Play a scene and return what is seen at its end, as SVG."""
    async with on_scene(size, theme) as stage:
        if scene is not None:
            await scene(stage)
        stage.screen._tick()
        return await _settled(stage)


async def _settled(stage: Stage) -> str:
    """Draw until two drawings are alike: parts that are laid out late have come by then."""
    before = ""
    for _ in range(50):
        await stage.pilot.pause(0.05)
        stage.screen.controls.alerts.show_last_lines()  # else they come with a beat of their own
        stage.screen.refresh(layout=True)
        await stage.pilot.pause()
        svg = _plain(stage.app.export_screenshot(title="teambot", simplify=True))
        if svg == before:
            return svg
        before = svg
    raise AssertionError("the screen does not come to rest")


def _plain(svg: str) -> str:
    """Leave out what nobody sees: ids from a checksum, fonts to be fetched, where blanks are cut."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = _TEXT.sub(_without_blanks, svg)
    svg = _BACKGROUNDS.sub(_joined, svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


_CELL: Final = 12.2  # rich's width of a character
_TEXT: Final = re.compile(
    r'(<text class="[^"]*" x="[\d.]+" y="[\d.]+" textLength=")([\d.]+)("[^>]*>)([^<]*)</text>'
)
_RECT: Final = re.compile(
    r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" '
    r'shape-rendering="crispEdges"/>'
)
_BACKGROUNDS: Final = re.compile(f"(?:{_RECT.pattern})+")


def _without_blanks(found: re.Match[str]) -> str:
    before, length, after, text = found.groups()
    seen = text.rstrip("\n")
    while seen.endswith("&#160;"):
        seen = seen.removesuffix("&#160;")
        length = f"{float(length) - _CELL:.1f}"
    return f"{before}{length}{after}{seen}</text>" if seen else ""


def _joined(found: re.Match[str]) -> str:
    rows: list[tuple[str, float, str, float, str]] = []
    for colour, x, y, width, height in _RECT.findall(found[0]):
        left, wide = float(x), float(width)
        if rows and rows[-1][0] == colour and rows[-1][2] == y and abs(rows[-1][1] + rows[-1][3] - left) < 1:
            left, wide = rows[-1][1], rows[-1][3] + wide
            rows.pop()
        rows.append((colour, left, y, wide, height))
    return "".join(
        f'<rect fill="{colour}" x="{left:.1f}" y="{y}" width="{wide:.1f}" height="{height}" '
        'shape-rendering="crispEdges"/>\n'
        for colour, left, y, wide, height in rows
    )
