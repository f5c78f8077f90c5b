"""One look per state on every surface, glyphs that plain machines have, and colours that can be read."""

from __future__ import annotations

import ast
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.color import Color

import teambot_tui
from teambot_tui.engine.board import State
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import ToolState
from teambot_tui.engine.states import STATES, Role, StateLook, agent_state, role_of, task_state
from teambot_tui.engine.status import Status
from teambot_tui.engine.views import AgentView
from teambot_tui.ui.glyphs import Glyphs, style_of
from teambot_tui.ui.themes import DARK, LIGHT, TEXT_ROLES, roles, theme_for
from teambot_tui.ui.widgets.feed_heads import Page, task_rows
from teambot_tui.ui.widgets.graph import Graph
from teambot_tui.ui.widgets.graph_items import Gathering
from teambot_tui.ui.widgets.inspector_sections import _TOOL_GLYPHS, _state
from teambot_tui.ui.widgets.lines import KeyBar, Tabs, TitleBar
from teambot_tui.ui.widgets.panel import Panel
from tests.ui.stage import NORMAL, SMALL, on_stage
from tests.ui.test_feed import view as task_view

if TYPE_CHECKING:
    from textual.theme import Theme

    from tests.ui.stage import Stage

PM = AgentId("pm")
PM_1 = TaskId("pm#1")
PACKAGE = Path(teambot_tui.__file__).parent

IN_DEJAVU_SANS_MONO = """
2010-2023 2026 202f-2037 2039-203a 203c-203f 2045-2049 204b 205f 2190-2213 2215 2217-2220 2223 2227-222d
2234-223d 2241-2269 226d-228b 228d-22a5 22b2-22b5 22b8 22c2-22c6 22cd-22d1 22da-22e9 22ef 2300-2306 2308-2315
2318-2319 231c-2321 2325-2328 232b 2335-237a 237d 2380-2383 2388-238b 2395 239b-23ae 23ce-23cf 2423 2500-262f
2638-268b 2690-269c 26a0-26a1 26b0-26b1 2701-2704 2706-2709 270c-2727 2729-274b 274d 274f-2752 2756 2758-275e
2761-2775 2794 2798-27af 27b1-27be 27c2 27c5-27c6 27dc 27e0 27e6-27eb 27f5-27f7 2987-2988 2997-2998 29eb
29fa-29fb 2a00 2a2f 2a6a-2a6b 2b05-2b0d 2b12-2b1a
"""
"""The signs that DejaVu Sans Mono 2.37 has from U+2010 to U+2BFF, as its table of characters says."""


def covered() -> set[int]:
    points: set[int] = set()
    for part in IN_DEJAVU_SANS_MONO.split():
        first, _, last = part.partition("-")
        points.update(range(int(first, 16), int(last or first, 16) + 1))
    return points


# The table


def test_every_state_of_the_engine_is_in_the_table() -> None:
    assert {*State, *Status, *_TOOL_GLYPHS.values()} <= set(STATES)
    assert {state for state in State if STATES[state].is_final} == {
        State.COMPLETED,
        State.FAILED,
        State.SKIPPED,
        State.CANCELLED,
    }
    assert set(ToolState) == set(_TOOL_GLYPHS)


@pytest.mark.parametrize("column", ["word", "short", "glyph", "ascii"])
def test_no_two_states_look_alike(column: str) -> None:
    values = [getattr(look, column) for look in STATES.values()]
    assert len(set(values)) == len(values)
    assert all(look.ascii.isascii() and len(look.ascii) == len(look.glyph) == 1 for look in STATES.values())


def test_nothing_else_has_the_colour_of_what_needs_the_person() -> None:
    assert [state for state in STATES if role_of(state) is Role.YOU] == ["asking"]
    for theme in (DARK, LIGHT):
        colours = [theme.variables[role] for role in TEXT_ROLES if role != "foreground"]
        assert len(set(colours)) == len(colours)


def test_no_other_module_draws_a_state() -> None:
    signs = {look.glyph for look in STATES.values() if not look.glyph.isascii()}
    for path in PACKAGE.rglob("*.py"):
        if path.name in ("states.py", "filters.py"):
            continue
        drawn = {each for each in strings(path) if each in signs}
        assert not drawn, f"{path}: {drawn}"


# Every surface


def shown(state: str) -> tuple[StateLook, str]:
    return STATES[state], Glyphs()[state]


TASKS = {
    **{state.value: task_view(PM_1, state) for state in State},
    "asking": task_view(PM_1, requests=(object(),)),
    "delayed": task_view(PM_1, State.QUEUED, until=2_000.0),
}


@pytest.mark.parametrize("state", TASKS)
def test_a_task_looks_the_same_on_every_surface(state: str) -> None:
    view = TASKS[state]
    look, glyph = shown(state)
    assert task_state(view) == state
    # the inspector and its lists
    said = _state(state, Glyphs())
    assert said.plain == f"{glyph} {look.word}"
    assert [span.style for span in said.spans] == [f"${look.role}"]
    # the graph and the tree
    (item,) = Gathering(Glyphs()).gather([view], None)[0].values()
    assert (item.glyph, item.state) == (glyph, state)
    assert f"graph--{role_of(item.state)}" in Graph.COMPONENT_CLASSES
    # the feed
    if state != "asking":  # its lines need a whole request
        page = Page(100, False, Glyphs(), lambda _: None, lambda _: ())
        head = task_rows(view, page, has_words=True)[0]
        assert (f"{glyph} ", f"feed--{look.role}") in head.parts
    # the title
    title = TitleBar(Path("/nowhere/shop"), Glyphs())
    if state == "asking":
        title.tell({State.EXECUTING: 3}, 3)
    elif state in list(State):
        title.tell({State(state): 3})
    else:
        return
    at = title.render()
    (span,) = [span for span in at.spans if at.plain[span.start : span.end] == f"{glyph}3"]
    assert span.style == f"bold ${look.role}"


AGENTS = {
    "idle": AgentView(PM),
    "queued": AgentView(PM, "queued"),
    "waiting": AgentView(PM, "waiting", waiting_for=(AgentId("ba"),)),
    "executing": AgentView(PM, "executing", PM_1, since=1.0, last_activity=999.0),
    "silent": AgentView(PM, "executing", PM_1, since=1.0, last_activity=900.0),
    "asking": AgentView(PM, "executing", PM_1, since=1.0, requests=1),
    "delayed": AgentView(PM, "queued", PM_1, until=2_000.0),
    **{state.value: AgentView(PM, last_end=state) for state in State if STATES[state].is_final},
}


@pytest.mark.parametrize("shape", ["card", "line", "chip"])
@pytest.mark.parametrize("state", AGENTS)
def test_an_agent_looks_the_same_in_every_shape(state: str, shape: str) -> None:
    look, glyph = shown(state)
    panel = Panel(AGENTS[state], 1, "codex", Glyphs())
    panel._now = 1_000.0
    assert agent_state(panel.view, 1_000.0) == panel.state == state
    assert glyph in panel.badge
    content = panel._card() if shape == "card" else panel._line()
    span = next(span for span in content.spans if glyph in content.plain[span.start : span.end])
    assert str(span.style).removeprefix("bold ") == f"${look.role}" == style_of(state)


# Glyphs


def strings(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_every_glyph_is_in_a_common_font() -> None:
    files = [*(PACKAGE / "ui").rglob("*.py"), *(PACKAGE / "headless").rglob("*.py")]
    drawn = {sign for path in (*files, PACKAGE / "engine" / "states.py") for sign in "".join(strings(path))}
    signs = {sign for sign in drawn if ord(sign) > 0xFF and unicodedata.category(sign)[0] in "SP"}
    assert {look.glyph for look in STATES.values() if not look.glyph.isascii()} <= signs
    missing = {sign for sign in signs if ord(sign) not in covered()}
    assert not missing, missing
    assert ord("⧗") not in covered(), "the hourglass was an empty box"


# Colours


def contrast(one: str, other: str) -> float:
    def brightness(colour: str) -> float:
        channels = [channel / 255 for channel in Color.parse(colour).rgb]
        linear = [
            value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_every_text_can_be_read(theme: Theme) -> None:
    colours = theme.to_color_system().generate() | theme.variables
    texts = [*TEXT_ROLES, *(name for name in colours if name.startswith("text-")), "foreground-muted"]
    for role in texts:
        for ground in ("background", "surface", "panel", "boost"):
            assert contrast(colours[role], colours[ground]) >= 4.5, (role, ground)


def test_textuals_themes_have_the_roles() -> None:
    from textual.theme import BUILTIN_THEMES

    for theme in BUILTIN_THEMES.values():
        known = roles(theme)
        assert set(known) >= {*Role, "reference", "flow", "strong", "rule"}
        assert known["you"] not in [colour for role, colour in known.items() if role != "you"]


def test_the_theme_follows_the_terminal() -> None:
    assert theme_for({}) == theme_for({"COLORFGBG": "15;0"}) == DARK.name
    assert theme_for({"COLORFGBG": "0;15"}) == theme_for({"COLORFGBG": "0;default;7"}) == LIGHT.name


@pytest.mark.parametrize("name", ["teambot-dark", "teambot-light", "ansi-dark", "nord", "textual-light"])
async def test_the_screen_is_drawn_in_any_theme(name: str) -> None:
    async with on_stage() as stage:
        assert stage.app.theme == DARK.name
        stage.app.theme = name
        await stage.enter("@pm plan\n@ba check $pm", made=2)
        assert "@pm" in stage.drawn("#panel-pm")


# What is chosen, and what works now


def marked(stage: Stage) -> list[str]:
    """Return the tabs that are marked, as they are drawn."""
    tabs = stage.screen.query_one(Tabs)
    (strip,) = tabs.render_lines(tabs.outer_size.region)
    plain = {segment.style.bgcolor for segment in strip if not segment.text.strip() and segment.style}
    return [
        segment.text.strip()
        for segment in strip
        if segment.text.strip() and segment.style and segment.style.bgcolor not in plain
    ]


async def test_the_marked_tab_is_the_one_that_is_shown() -> None:
    async with on_stage() as stage:
        assert marked(stage) == ["All"]
        await stage.press("alt+right", "alt+right")
        assert marked(stage) == ["ba"]
        await stage.press("escape")
        assert marked(stage) == ["All"]
        at = stage.line("tabs").index(" writer ") + 1
        await stage.pilot.click("#tabs", offset=(at, 0))
        await stage.pilot.pause()
        assert marked(stage) == ["writer"]
        await stage.press("escape")
        assert marked(stage) == ["All"]
        assert stage.focused is stage.bar


async def test_tabs_go_on_beyond_the_edge() -> None:
    async with on_stage((40, 24)) as stage:
        assert stage.line("tabs").endswith("›")
        await stage.pilot.click("#tabs", offset=(39, 0))
        await stage.pilot.pause()
        assert stage.line("tabs").startswith("‹")
        (there,) = marked(stage)
        assert there != "All"
        await stage.press("alt+left")
        assert marked(stage) != [there]


async def test_the_footer_names_what_works_and_can_be_clicked() -> None:
    async with on_stage() as stage:
        assert "Enter send" not in stage.line("footer")
        await stage.type_text("@pm plan")
        assert "Enter send" in stage.line("footer")
        at = stage.line("footer").index("Enter") + 1
        await stage.pilot.click(KeyBar, offset=(at, 0))
        await stage.until(lambda: stage.state("pm#1") == "executing", "the task")
        assert "Enter send" not in stage.line("footer")
        stage.panel("ba").focus()
        await stage.pilot.pause()
        assert "x cancel" not in stage.line("footer")
        stage.panel("pm").focus()
        await stage.pilot.pause()
        assert "x cancel" in stage.line("footer")
        assert "r retry" not in stage.line("footer")


# Room


async def crowd(stage: Stage, count: int) -> None:
    for number in range(count - 6):
        await stage.paste(f'$x{number} := {{base: "reviewer", prompt: "p"}}')
    await stage.until(lambda: len(stage.screen.query(Panel)) == count, f"{count} panels")


@pytest.mark.parametrize("size", [SMALL, NORMAL], ids=str)
async def test_whoever_works_is_in_sight_however_many_there_are(size: tuple[int, int]) -> None:
    async with on_stage(size) as stage:
        await crowd(stage, 16)
        await stage.enter("@writer,x7,x8,x9 go", made=4)
        await stage.enter("@x5 check $writer", made=5)
        await stage.pilot.pause()
        stage.screen.refresh(layout=True)
        await stage.pilot.pause()
        grid = stage.screen.query_one("#panels").region
        for agent in ("writer", "x7", "x8", "x9", "x5"):
            panel = stage.panel(agent)
            assert panel.region.bottom <= grid.bottom, agent
            assert Glyphs()[panel.state] in stage.drawn(f"#panel-{agent}")
            assert f"{panel.number} " in stage.drawn(f"#panel-{agent}")
        if size == NORMAL:
            assert stage.panel("x9").region.height == 4
            assert stage.panel("pm").region.height == 1


async def test_an_idle_agent_is_one_line_with_its_last_mark() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.until(lambda: stage.panel("pm").region.height == 4, "a card")
        assert "plan" in stage.drawn("#panel-pm")
        stage.clock.now += 48
        await stage.answer("pm#1", "Done.")
        await stage.until(lambda: stage.panel("pm").region.height == 1, "a line")
        assert stage.drawn("#panel-pm").split() == ["1", "pm", "✓", "0:48"]


async def test_a_failed_agent_keeps_its_card_and_says_why() -> None:
    async with on_stage() as stage:
        await stage.enter("@pm plan", made=1)
        await stage.fail("pm#1", "out of ideas")
        await stage.until(lambda: "out of ideas" in stage.drawn("#panel-pm"), "the reason")
        assert "✗ failed" in stage.drawn("#panel-pm")


def test_a_silent_agent_stays_among_those_at_work() -> None:
    panel = Panel(replace(AGENTS["silent"]), 1, "codex", Glyphs())
    panel._now = 1_000.0
    assert panel.rank == 0


async def test_a_theme_that_is_chosen_is_kept() -> None:
    async with on_stage() as stage:
        kept: list[str] = []
        person = stage.screen.controls.person
        person._setup = replace(person._setup, keep_theme=kept.append)
        await stage.paste("/theme teambot-light")
        await stage.until(lambda: kept == ["teambot-light"], "it to be kept")
        assert stage.app.theme == "teambot-light"
