"""Every key of the input, with the keys pressed; and texts that would hurt a terminal or a slow widget."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.widgets import Button, Static

from teambot_tui.language.nodes import Span
from teambot_tui.ui.history import History
from teambot_tui.ui.stylesheets import stylesheets
from teambot_tui.ui.widgets.completion import CompletionList, find_paths, path_at
from teambot_tui.ui.widgets.input import InputBar
from tests.cost import cheap
from tests.ui.bare import Bare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.pilot import Pilot

TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")
HOSTILE = [
    "[/x]",
    "list[str]",
    "[@click=app.quit]go[/]",
    "[",
    "\x1b]0;t\x07x",
    "\x1b[2J",
    "日本",
    "e\u202evil",
    "\ud800",
]


class Desk(Bare):
    """An input between two other things, and a record of what it says."""

    CSS_PATH = stylesheets("input")
    CSS = "#output { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "note('suspend')"),
        Binding("escape", "note('escape')"),
    ]

    def __init__(self, past: History | None = None, placeholder: str = "") -> None:
        super().__init__()
        self.bar = InputBar(past=past, placeholder=placeholder)
        self.said: list[Message] = []
        self.requested: list[str] = []
        self.notes: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("output", id="output", markup=False)
        yield self.bar.completer.list
        yield self.bar
        yield Button("next")

    def on_mount(self) -> None:
        self.bar.completer.agents = TEAM
        self.bar.focus()

    def action_note(self, note: str) -> None:
        self.notes.append(note)

    @contextlib.contextmanager
    def suspend(self) -> Iterator[None]:
        self.notes.append("lent")
        yield

    def heard(self, kind: type[Message]) -> list[Message]:
        return [message for message in self.said if isinstance(message, kind)]

    def on_input_bar_submitted(self, message: InputBar.Submitted) -> None:
        self.said.append(message)

    def on_input_bar_edited(self, message: InputBar.Edited) -> None:
        self.said.append(message)

    def on_input_bar_requested(self, message: InputBar.Requested) -> None:
        self.requested.append(message.action)


def past_of(*texts: str) -> History:
    past = History()
    for text in texts:
        past.add(text)
    return past


async def type_in(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*text)


async def paste(pilot: Pilot[None], app: Desk, text: str) -> None:
    app.bar.post_message(events.Paste(text))
    await pilot.pause()


def popup(app: Desk) -> CompletionList:
    return app.screen.query_one(CompletionList)


def styles_of(app: Desk, row: int = 0) -> dict[str, str]:
    """The styled pieces of a row and the letters' style of each."""
    line = app.bar.get_line(row)
    return {line.plain[span.start : span.end]: str(span.style) for span in line.spans}


# Sending


async def test_enter_sends_and_the_text_stays_until_it_is_accepted() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm plan")
        await pilot.press("enter")
        assert [message.text for message in app.said if isinstance(message, InputBar.Submitted)] == [
            "@pm plan"
        ]
        assert app.bar.text == "@pm plan"
        app.bar.accept()
        assert app.bar.text == ""
        assert app.bar.past.entries == ["@pm plan"]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
async def test_enter_on_a_blank_text_sends_nothing(text: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.text = text
        await pilot.press("enter")
        assert not app.heard(InputBar.Submitted)


async def test_what_is_typed_in_one_burst_with_enter_is_not_lost() -> None:
    app = Desk()
    async with app.run_test():
        app.bar.text = "@pm plan"
        app.bar.action_send()
        app.bar.insert("more")
        app.bar.accept()
        assert app.bar.text == "more"
        assert app.bar.past.entries == ["@pm plan"]


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "shift+\r"])
async def test_newline_keys(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "a")
        if key == "shift+\r":
            app.post_message(events.Key(key, "\r"))
            await pilot.pause()
        else:
            await pilot.press(key)
        await type_in(pilot, "b")
        assert app.bar.text == "a\nb"
        assert not app.heard(InputBar.Submitted)


async def test_backslash_and_enter_is_a_newline() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "a\\")
        await pilot.press("enter", "b")
        assert app.bar.text == "a\nb"
        assert not app.heard(InputBar.Submitted)


async def test_it_grows_to_eight_rows() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        heights = []
        for count in (1, 2, 8, 30):
            app.bar.text = "\n".join(["row"] * count)
            await pilot.pause()
            heights.append(app.bar.content_size.height)
        assert heights == [1, 2, 8, 8]
        app.bar.text = "word " * 40
        await pilot.pause()
        assert app.bar.content_size.height == 3


# History


async def test_up_and_down_walk_the_history_and_keep_the_draft() -> None:
    app = Desk(past_of("one", "two\nrows"))
    async with app.run_test() as pilot:
        await type_in(pilot, "draft")
        await pilot.press("up")
        assert app.bar.text == "two\nrows"
        await pilot.press("up")
        assert app.bar.text == "two\nrows"
        await pilot.press("up")
        assert app.bar.text == "one"
        await pilot.press("up")
        assert app.bar.text == "one"
        await pilot.press("down", "down")
        assert app.bar.text == "draft"


async def test_history_survives_the_session(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    app = Desk(History(path))
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm plan")
        await pilot.press("enter")
        app.bar.accept()
    again = Desk(History(path))
    async with again.run_test() as pilot:
        await again.workers.wait_for_complete()
        await pilot.press("up")
        assert again.bar.text == "@pm plan"


async def test_search_takes_with_enter_without_sending() -> None:
    app = Desk(past_of("@pm plan one", "@ba check", "@pm plan two [/x]"))
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r", *"plan")
        assert app.bar.text == "@pm plan two [/x]"
        assert "plan" in str(app.bar.border_title)
        await pilot.press("ctrl+r")
        assert app.bar.text == "@pm plan one"
        await pilot.press("ctrl+r")
        assert app.bar.text == "@pm plan one"
        await pilot.press("down")
        assert app.bar.text == "@pm plan two [/x]"
        await pilot.press("up", "enter")
        assert app.bar.text == "@pm plan one"
        assert not app.bar.border_title
        assert not app.heard(InputBar.Submitted)


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_search_is_left_with_the_draft(key: str) -> None:
    app = Desk(past_of("@pm plan"))
    async with app.run_test() as pilot:
        await type_in(pilot, "draft")
        await pilot.press("ctrl+r", *"plx")
        assert "nothing found" in str(app.bar.border_subtitle)
        await pilot.press("backspace")
        assert app.bar.text == "@pm plan"
        assert "nothing" not in str(app.bar.border_subtitle)
        await pilot.press(key)
        assert app.bar.text == "draft"
        assert app.notes == []


@pytest.mark.parametrize("hostile", HOSTILE)
async def test_search_and_history_show_anything(hostile: str) -> None:
    app = Desk(past_of(f"x{hostile}"))
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r", "x")
        app.bar._show_found(app.bar._recall.look_for(hostile))
        await pilot.pause()
        app.export_screenshot()


# Completion


async def test_tab_takes_the_only_candidate() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@rev")
        await pilot.press("tab")
        assert app.bar.text == "@reviewer "
        await type_in(pilot, "see $wr")
        await pilot.press("tab")
        assert app.bar.text == "@reviewer see $writer"
        assert app.bar.has_focus


@pytest.mark.parametrize("key", ["tab", "ctrl+space", "ctrl+@"])
async def test_a_list_opens_and_is_chosen_from(key: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@")
        await pilot.press(key)
        assert popup(app).is_open
        await pilot.pause()
        assert popup(app).region.bottom <= app.bar.region.y
        await pilot.press("down", "down", "up")
        assert popup(app).choice == "@ba"
        await pilot.press("enter")
        assert app.bar.text == "@ba "
        assert not popup(app).is_open
        assert not app.heard(InputBar.Submitted)


async def test_the_list_follows_what_is_typed_and_tab_takes() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("@", "tab", "b")
        assert popup(app).candidates == ("@ba", "@builder-1", "@builder-2")
        assert popup(app).choice is None, "what was chosen was chosen of others"
        await pilot.press("down", "down", "tab")
        assert app.bar.text == "@builder-1 "
        await pilot.press("$", "tab", "x")
        assert not popup(app).is_open


@pytest.mark.parametrize("text", ["@b", "@pm use $b", "/he", "@pm say {pl", "@pm --mo", "@pm,b"])
async def test_the_list_opens_by_itself_and_enter_still_sends(text: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.completer.variables = ("plan",)
        await type_in(pilot, text)
        assert popup(app).is_open
        assert popup(app).choice is None
        await pilot.press("enter")
        assert [message.text for message in app.said if isinstance(message, InputBar.Submitted)] == [text]
        assert not popup(app).is_open


@pytest.mark.parametrize("text", ["plan it", "@pm and/or", "@pm at 5", "@pm a - b", "@pm /usr"])
async def test_the_list_stays_closed_in_plain_words(text: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, text)
        await app.workers.wait_for_complete()
        assert not popup(app).is_open


async def test_what_comes_by_paste_or_from_the_history_opens_nothing() -> None:
    app = Desk(past_of("@pm", "@ba"))
    async with app.run_test() as pilot:
        await pilot.press("up", "up")
        assert app.bar.text == "@pm"
        app.bar.text = ""
        await paste(pilot, app, "@b")
        assert not popup(app).is_open


@pytest.mark.parametrize(("key", "choice"), [("down", "@ba"), ("up", "@builder-2"), ("tab", "@ba")])
async def test_enter_takes_what_was_moved_to(key: str, choice: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("@", "b", key)
        assert popup(app).choice == choice
        await pilot.press("enter")
        assert app.bar.text == f"{choice} "
        assert not app.heard(InputBar.Submitted)


async def test_a_closed_list_stays_closed_for_its_word() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("@", "escape", "b")
        assert not popup(app).is_open
        await pilot.press("tab")
        assert popup(app).is_open, "unless it is asked for"
        await pilot.press("escape", *"a $")
        assert popup(app).candidates[0] == "$pm"
        assert app.notes == []


async def test_the_list_tells_what_is_known_and_shows_it_short() -> None:
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(pilot, "@")
        assert [offer.text for offer in popup(app).offers] == [*(f"@{name}" for name in TEAM), "@all"]
        known = {"@ba": ("@ba", "\u25cf executing 0:12"), "@pm": ("@pm", "words " * 50)}
        app.bar.completer.describe = lambda names: [known.get(name, (name, "")) for name in names]
        app.bar.completer.details = {"@all": "everyone"}
        app.bar.completer.tell_again()
        await pilot.pause()
        rows = str(popup(app).render()).splitlines()
        assert rows[1].split() == ["@ba", "●", "executing", "0:12"]
        assert rows[0].rstrip().endswith("…")
        assert rows[-1].split() == ["@all", "everyone"]
        assert popup(app).region.right <= 80
        assert popup(app).region.bottom <= app.bar.region.y


@pytest.mark.parametrize("size", [(80, 24), (60, 16), (120, 40)])
async def test_the_list_covers_neither_the_input_nor_what_it_stands_before(size: tuple[int, int]) -> None:
    app = Desk()
    async with app.run_test(size=size) as pilot:
        for rows in ("", "one\ntwo\n", "word " * 60):
            app.bar.text = rows
            await pilot.press(*(["ctrl+j"] if rows else []), "@")
            await pilot.pause()
            area = popup(app).region
            assert popup(app).is_open
            assert area.bottom <= app.bar.region.y
            assert area.y >= 0
            assert area.right <= size[0]
            assert len(str(popup(app).render()).splitlines()) == area.height - 2


async def test_escape_closes_the_list_and_only_then_is_the_apps() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("@", "tab", "escape")
        assert not popup(app).is_open
        assert app.notes == []
        assert app.bar.text == "@"
        await pilot.press("escape")
        assert app.notes == ["escape"]


async def test_a_click_takes_and_the_input_keeps_the_focus() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("@", "tab")
        await pilot.pause()
        await pilot.click(CompletionList, offset=Offset(3, 3))
        await pilot.pause()
        assert app.bar.text == "@builder-1 "
        assert app.bar.has_focus


async def test_commands_are_completed_in_column_one() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "/sta")
        await pilot.press("tab")
        assert app.bar.text == "/status "


async def test_tab_with_nothing_to_complete_moves_the_focus_and_ctrl_space_does_not() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "word")
        await pilot.press("ctrl+space")
        assert app.bar.has_focus
        await pilot.press("tab")
        assert not app.bar.has_focus


async def test_tab_on_an_empty_input_takes_the_suggestion() -> None:
    app = Desk(placeholder="type")
    async with app.run_test() as pilot:
        app.bar.suggestion = "@pm Plan [it]"
        await pilot.press("x", "backspace", "tab")
        assert app.bar.text == "@pm Plan [it]"
        await pilot.press("ctrl+c")
        app.bar.suggestion = ""
        await pilot.press("tab")
        assert app.bar.text == ""
        assert not app.bar.has_focus


async def test_paths_are_completed(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "main.py").touch()
    (tmp_path / "source" / "mail\nx.py").touch()
    (tmp_path / ".hidden").touch()
    app = Desk()
    app.bar.completer.folder = tmp_path
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm read ./so")
        await pilot.press("tab")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.bar.text == "@pm read ./source/"
        await pilot.press("tab")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.bar.text == "@pm read ./source/main.py "
        assert app.bar.has_focus


async def test_paths_open_by_themselves_also_behind_include(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "plan.md").touch()
    (tmp_path / "notes.md").touch()
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.completer.folder = tmp_path
        await type_in(pilot, "@pm read ./")
        await app.workers.wait_for_complete()
        assert popup(app).candidates == ("./docs/", "./notes.md")
        app.bar.text = "@pm read "
        await type_in(pilot, "{{include: docs/")
        await app.workers.wait_for_complete()
        assert popup(app).candidates == ("docs/plan.md",)
        await pilot.press("tab")
        await app.workers.wait_for_complete()
        assert app.bar.text == "@pm read {{include: docs/plan.md}}"


def test_where_a_path_is_typed(tmp_path: Path) -> None:
    assert path_at("see ./a", 7) == (4, 7)
    assert path_at("/etc/ho", 7) == (0, 7)
    assert path_at("~/x", 3) == (0, 3)
    assert path_at("either/or", 9) is None
    assert path_at("https://x", 9) is None
    assert find_paths("./nowhere/x", tmp_path) == ()
    assert find_paths("~nobody-at-all/x", tmp_path) == ()
    assert find_paths("./\0/x", tmp_path) == ()


# The editor


def editor(tmp_path: Path, code: str) -> str:
    script = tmp_path / "my editor.py"
    script.write_text(f"import sys, os, pathlib\npath = pathlib.Path(sys.argv[-1])\n{code}\n")
    import shlex
    import sys

    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"


async def test_ctrl_g_edits_in_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "path.with_name('seen-by-editor').unlink(missing_ok=True)\n"
    code += f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(f'{{path}} {{path.stat().st_mode:o}}')\n"
    code += "path.write_text(path.read_text() + ' and more\\x1b[2J\\n')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, code))
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm plan")
        await pilot.press("ctrl+g")
        assert app.bar.text == "@pm plan and more"
        assert app.notes == ["lent"]
    name, mode = (tmp_path / "seen").read_text().rsplit(" ", 1)
    assert stat.S_IMODE(int(mode, 8)) == 0o600
    assert name not in map(str, Path(name).parent.iterdir())


@pytest.mark.parametrize(
    "command", ["", "'unclosed", "/nowhere/at/all", "fails"], ids=["unset", "unreadable", "missing", "fails"]
)
async def test_a_failing_editor_keeps_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    failing = editor(tmp_path, "path.write_text('gone'); sys.exit(3)")
    monkeypatch.setenv("EDITOR", failing if command == "fails" else command)
    app = Desk()
    async with app.run_test(notifications=True) as pilot:
        await type_in(pilot, "keep [/x]")
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.bar.text == "keep [/x]"
        assert len(app._notifications) == 1


# Leaving things to the app


async def test_ctrl_c_copies_then_clears_then_interrupts() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "text")
        await pilot.press("shift+left", "shift+left", "ctrl+c")
        assert app.clipboard == "xt"
        assert app.bar.text == "text"
        await pilot.press("end", "ctrl+c")
        assert app.bar.text == ""
        assert not app.requested
        await pilot.press("ctrl+c")
        assert app.requested == ["interrupt"]
        await pilot.press("up")
        assert app.bar.text == "text"


async def test_ctrl_d_leaves_when_empty_and_deletes_otherwise() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "ab")
        await pilot.press("home", "ctrl+d")
        assert app.bar.text == "b"
        await pilot.press("ctrl+d")
        assert not app.requested
        await pilot.press("ctrl+d")
        assert app.requested == ["quit"]


async def test_question_mark_asks_for_help_only_when_empty() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("?")
        assert app.bar.text == ""
        assert app.requested == ["help"]
        await type_in(pilot, "a?")
        assert app.bar.text == "a?"
        assert app.requested == ["help"]


async def test_ctrl_arrows_step_agents_only_when_empty() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+right", "ctrl+left")
        assert app.requested == ["next-agent", "previous-agent"]
        await type_in(pilot, "two words")
        await pilot.press("ctrl+left", "ctrl+left")
        assert app.bar.cursor_location[1] < 5
        await pilot.press("ctrl+right")
        assert len(app.requested) == 2


async def test_scrolling_is_left_to_the_app() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.press("pageup", "a", "pagedown")
        assert app.requested == ["scroll-up", "scroll-down"]
        await pilot.press("home", "end")
        assert app.bar.cursor_location == (0, 1)
        assert len(app.requested) == 2
        await pilot.press("backspace", "end")
        assert app.requested[2:] == ["follow"]


async def test_ctrl_z_is_the_apps_and_ctrl_underscore_undoes() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "abc")
        await pilot.press("ctrl+z")
        assert app.notes == ["suspend"]
        assert app.bar.text == "abc"
        await pilot.press("ctrl+underscore")
        assert app.bar.text == ""


def test_no_key_is_bound_that_terminals_cannot_tell_apart() -> None:
    keys = {
        key for binding in InputBar.BINDINGS if isinstance(binding, Binding) for key in binding.key.split(",")
    }
    assert not keys & {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+[", *(f"alt+{digit}" for digit in range(10))}


# Text


async def test_edits_are_told_once_a_frame() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        for number in range(50):
            app.bar.insert(f"{number} ")
        await pilot.pause()
        told = [message.text for message in app.said if isinstance(message, InputBar.Edited)]
        assert len(told) <= 2
        assert told[-1] == app.bar.text


async def test_colours_by_meaning_and_state() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.text = "@pm use $ba, $pm, $writer \\$x -> @ba check &"
        app.bar.references = {"ba": "waiting", "pm": "bound", "writer": "unknown"}
        await pilot.pause()
        styles = styles_of(app)
        assert set(styles) == {"@pm", "$ba", "$pm", "$writer", "\\$", "->", "@ba", "&"}
        assert len({styles["$ba"], styles["$pm"], styles["$writer"]}) == 3
        assert "italic" in styles["$ba"]
        assert "strike" in styles["$writer"]


@pytest.mark.parametrize(
    ("text", "word", "style"),
    [
        ("@bui", "@bui", "incomplete"),
        ("@zz", "@zz", "incomplete"),
        ("@zz plan", "@zz", "agent-unknown"),
        ("@pm, zz plan", "zz", "agent-unknown"),
        ("@pm use $b", "$b", "incomplete"),
        ("@pm use $zz and", "$zz", "reference-unknown"),
        ("@pm use $writer", "$writer", "incomplete"),
        ("@pm use $writer now", "$writer", "reference-unknown"),
        ("@writer write -> @pm check $writer now", "$writer", "reference-waiting"),
        ("@pm use $ba now", "$ba", "reference-bound"),
        ("@all plan", "@all", "agent"),
        ("@project_manager plan", "@project_manager", "agent"),
        ('$scan := {base: "ba", prompt: "x"}\n@scan look', "@scan", "agent"),
    ],
)
async def test_nothing_is_wrong_while_it_is_typed(text: str, word: str, style: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.references = dict.fromkeys(TEAM, "unknown") | {"ba": "bound"}
        app.bar.text = text
        await pilot.pause()
        found = {
            key: value for row in range(text.count("\n") + 1) for key, value in styles_of(app, row).items()
        }
        assert found[word] == str(app.bar._style(style))
        if style == "incomplete":
            await pilot.press("left")
            assert styles_of(app)[word] != found[word], "it is wrong once the cursor is elsewhere"


async def test_an_error_at_the_cursor_is_unfinished() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@zz")
        assert app.bar.is_unfinished(Span(0, 3))
        await type_in(pilot, " x")
        assert not app.bar.is_unfinished(Span(0, 3))
        await pilot.press("home")
        assert app.bar.is_unfinished(Span(0, 3))


async def test_colours_cross_rows() -> None:
    app = Desk()
    async with app.run_test():
        app.bar.text = "@pm look\n\n```\ncode $pm\n```\nthen $ba"
        assert [set(styles_of(app, row)) for row in range(6)] == [
            {"@pm"},
            set(),
            {"```"},
            {"code $pm"},
            {"```"},
            {"$ba"},
        ]


async def test_an_error_is_marked_until_the_next_edit() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.bar.text = "x\n@nobody plan"
        app.bar.show_error(Span(2, 9))
        await pilot.pause()
        assert any("underline" in style for style in styles_of(app, 1).values())
        await pilot.press("a")
        assert not any("underline" in style for style in styles_of(app, 1).values())
        for span in (Span(0, 0), Span(99, 200), Span(len(app.bar.text), len(app.bar.text)), None):
            app.bar.show_error(span)
            await pilot.pause()
            app.export_screenshot()


@pytest.mark.parametrize("hostile", HOSTILE)
async def test_hostile_text_is_shown_as_text(hostile: str) -> None:
    app = Desk(placeholder=hostile)
    async with app.run_test() as pilot:
        app.bar.suggestion = hostile
        await pilot.pause()
        app.bar.completer.details = {"@pm": hostile}
        await pilot.press("@", "tab")
        await pilot.pause()
        await pilot.press("escape", "backspace")
        await paste(pilot, app, f"@pm {hostile}")
        picture = app.export_screenshot()
        assert "\x1b" not in app.bar.text
        assert "\x1b" not in picture
        assert "\u202e" not in app.bar.text


@pytest.mark.parametrize(
    "text", ["a\r\nb\rc\n", "tab\there", "\n\n", "x" * 3000 + "\n" + "y", "\U0010f000 marks \ue000"]
)
async def test_pastes_are_kept_exactly(text: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "<>")
        await pilot.press("left")
        await paste(pilot, app, text)
        clean = text.replace("\r\n", "\n").replace("\r", "\n")
        assert app.bar.text == f"<{clean}>"


@pytest.mark.parametrize("piece", ["some words of a log\n", "x", "日本語"])
async def test_ten_megabytes_are_pasted_edited_undone_and_sent_without_lag(piece: str) -> None:
    big = piece * (10_000_000 // len(piece))
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm ")
        with cheap(140):
            await paste(pilot, app, big)
            await type_in(pilot, " sum up")
        assert app.bar.text == f"@pm {big} sum up"
        assert "pasted]" in app.bar.get_line(0).plain
        assert "^G edits it" in str(app.bar.border_subtitle)
        await pilot.press(*["left"] * 7, "backspace")
        assert app.bar.text == "@pm  sum up"
        await pilot.press("ctrl+underscore")
        assert app.bar.text == f"@pm {big} sum up"
        app.bar.show_error(Span(len(big) + 5, len(big) + 8))
        assert "sum" in styles_of(app)
        await pilot.press("enter")
        assert [m.text for m in app.said if isinstance(m, InputBar.Submitted)] == [f"@pm {big} sum up"]
        app.bar.accept()
        assert app.bar.text == ""
        await pilot.press("up")
        assert app.bar.text == f"@pm {big} sum up"
        assert app.bar.shown.startswith("@pm ")
        assert len(app.bar.shown) < 2_000


def drawn(app: Desk) -> list[str]:
    return [app.bar.get_line(row).plain for row in range(app.bar.document.line_count)]


async def test_a_long_paste_keeps_the_agent_in_sight_and_tells_its_length() -> None:
    log = "\n".join(f"line {number} of a log" for number in range(1, 201))
    app = Desk()
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.references = {"pm": "unknown"}
        await type_in(pilot, "@pm sum up ")
        await paste(pilot, app, log)
        await type_in(pilot, " in a line")
        assert drawn(app) == ["@pm sum up [200 lines pasted] in a line"]
        assert app.bar.content_size.height == 1
        assert "3.4k folded, sent whole · ^O shows it" in str(app.bar.border_subtitle)
        assert {"@pm", "[200 lines pasted]"} <= set(styles_of(app))
        await pilot.press("enter")
        assert [m.text for m in app.said if isinstance(m, InputBar.Submitted)] == [
            f"@pm sum up {log} in a line"
        ]


async def test_a_label_is_one_for_every_key() -> None:
    log = "one line of it\n" * 50
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "<")
        await paste(pilot, app, log)
        await type_in(pilot, ">")
        await pilot.press("left", "left")
        assert app.bar.cursor_location == (0, 1)
        await type_in(pilot, "a")
        await pilot.press("right")
        await type_in(pilot, "b")
        assert app.bar.text == f"<a{log}b>"
        assert drawn(app) == ["<a[51 lines pasted]b>"]
        await pilot.press("left", "shift+left", "ctrl+c")
        assert app.clipboard == log
        await pilot.press("backspace")
        assert app.bar.text == "<ab>"
        await pilot.press("ctrl+underscore")
        assert app.bar.text == f"<a{log}b>"
        await pilot.press("end", "left", "left", "left", "delete")
        assert app.bar.text == "<ab>"
        await paste(pilot, app, log)
        await pilot.press("ctrl+w")
        assert app.bar.text in ("<ab>", "b>")
        app.bar.text = ""
        await paste(pilot, app, log)
        for key in ("home", "ctrl+right", "ctrl+left", "shift+end", "x"):
            await pilot.press(key)
        assert app.bar.text == "x"


async def test_a_paste_is_shown_on_demand_and_folded_again_by_undo() -> None:
    log = "[/x] of it\n" * 20
    app = Desk()
    async with app.run_test() as pilot:
        await type_in(pilot, "@pm ")
        await paste(pilot, app, log)
        await type_in(pilot, "go")
        await pilot.press("ctrl+o")
        assert drawn(app)[:2] == ["@pm [/x] of it", "[/x] of it"]
        assert app.bar.text == f"@pm {log}go"
        assert not app.bar.border_subtitle
        await pilot.press("ctrl+o", "ctrl+underscore")
        assert drawn(app) == ["@pm [21 lines pasted]go"]
        assert app.bar.text == f"@pm {log}go"
        app.bar.load_text("x" * 20_000)
        await pilot.press("ctrl+o")
        assert "^G" in str(app.bar.border_subtitle)


async def test_a_long_text_of_the_history_shows_how_it_begins() -> None:
    text = "@pm look\n" + "at this\n" * 60 + "the end"
    app = Desk(past_of(text))
    async with app.run_test() as pilot:
        await pilot.press("up")
        assert drawn(app) == ["@pm look", "at this", "at this", "[59 lines]the end"]
        assert app.bar.text == text
