"""A person's own keys: they work and are shown, and what cannot be used is said before the start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teambot_tui.agents.errors import SettingsError
from teambot_tui.agents.settings import Settings
from teambot_tui.ui.action_table import ACTIONS
from teambot_tui.ui.own_keys import own_keys
from tests.ui.stage import on_stage

if TYPE_CHECKING:
    from teambot_tui.ui.keys import Keys

FILE = Path("/home/me/config.toml")


def keys_from(**own: str | tuple[str, ...]) -> Keys:
    named = {name.replace("_", "-"): (each,) if isinstance(each, str) else each for name, each in own.items()}
    return own_keys(Settings(keys=named, sources={f"keys.{name}": FILE for name in named}))


def test_names_are_there_once_and_the_table_itself_has_no_clash() -> None:
    for names in (
        [action.name for action in ACTIONS if action.name and action.keys],
        [action.name for action in ACTIONS if action.command],
    ):
        assert len(names) == len(set(names))
    for key in ACTIONS:
        if key.name and key.keys:
            keys_from(**{key.name.replace("-", "_"): tuple(key.keys.split(","))})


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("f5", "f5"),
        ("Ctrl+N", "ctrl+n"),
        ("F5", "f5"),
        ("ctrl+shift+f5", "ctrl+shift+f5"),
        ("shift+ctrl+f5", "ctrl+shift+f5"),
        (" pageup ", "pageup"),
        ("ctrl++", "ctrl+plus"),
    ],
)
def test_keys_as_people_write_them(written: str, key: str) -> None:
    assert keys_from(graph=written, scroll_up="f9").own["graph"] == key


@pytest.mark.parametrize(("written", "key"), [("c", "c"), ("C", "C"), (",", "comma"), ("?", "question_mark")])
def test_characters_where_nothing_is_typed(written: str, key: str) -> None:
    assert keys_from(cancel=written).own["cancel"] == key


@pytest.mark.parametrize(
    ("own", "place", "words"),
    [
        ({"grpah": "f5"}, "keys.grpah", "unknown action grpah. Did you mean graph? Known: send, newline"),
        ({"graph": "alt+1"}, "keys.graph", "alt+1 cannot be used"),
        ({"graph": "Alt+0"}, "keys.graph", "Use, for instance, f5"),
        ({"graph": "ctrl+h"}, "keys.graph", "Backspace"),
        ({"graph": "ctrl+I"}, "keys.graph", "Tab"),
        ({"send": "ctrl+m"}, "keys.send", "Enter"),
        ({"graph": "ctrl+["}, "keys.graph", "Esc"),
        ({"newline": "alt+enter"}, "keys.newline", "plain Enter"),
        ({"graph": "g"}, "keys.graph", "g is text in the input"),
        ({"send": "space"}, "keys.send", "space is text"),
        ({"graph": "hyperdrive"}, "keys.graph", "hyperdrive is no key"),
        ({"graph": "cmd+o"}, "keys.graph", "unknown modifier cmd"),
        ({"graph": "ctrl+ctrl+n"}, "keys.graph", "is no key"),
        ({"graph": "+"}, "keys.graph", "+ is text"),
        ({"graph": "\x1b[31m"}, "keys.graph", "is no key"),
        ({"graph": "f4"}, "keys.graph", "f4 is taken by zoom"),
        ({"graph": "f5", "zoom": "f5"}, "keys.graph", "f5 is taken by zoom"),
        ({"cancel": "r"}, "keys.cancel", "r is taken by retry"),
        ({"cancel": "3"}, "keys.cancel", "3 is taken by choose an agent by its number"),
        ({"graph": "enter"}, "keys.graph", "enter is taken by send"),
        ({"graph": "ctrl+a"}, "keys.graph", "ctrl+a is taken by editing in the input"),
    ],
)
def test_what_cannot_be_used(own: dict[str, str], place: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        keys_from(**own)
    text = str(caught.value)
    assert caught.value.file == FILE
    assert text.startswith(f"{FILE}: {place}: ")
    assert words in text
    assert text.isprintable()


async def test_they_work_and_are_shown() -> None:
    keys = keys_from(
        graph="f4",
        zoom="f3",  # an exchange is no clash
        cancel=("c", "f9"),
        send="ctrl+s",
        newline="enter",
        search_history="ctrl+n",
        back="f12",
        quit="f10",
        inspect="o",
    )
    async with on_stage(keys=keys) as stage:
        assert "F4 graph" in stage.line("footer")
        await stage.type_text("@pm one")
        assert "^S send" in stage.line("footer")
        await stage.press("enter")
        await stage.type_text("two")
        await stage.press("ctrl+s")
        await stage.until(lambda: stage.state("pm#1") == "executing")
        assert stage.gate.prompt("pm#1") == "one\ntwo"

        await stage.press("f4")
        assert stage.screen.has_class("-graphing")
        await stage.press("f12")
        assert not stage.screen.has_class("-graphing")
        await stage.press("f3")
        assert stage.screen.has_class("-zoomed")
        await stage.press("f12", "f12")
        assert stage.state("pm#1") == "executing"

        await stage.type_text("cx")
        assert stage.bar.text == "cx", "no key of the panels fires while someone types"
        await stage.press("ctrl+c", "ctrl+n")
        await stage.type_text("on")
        await stage.press("ctrl+n")
        assert stage.bar.text == "@pm one\ntwo"
        await stage.press("f12", "ctrl+q")
        assert not stage.dialog, "its old place does nothing any more"

        stage.panel("pm").focus()
        await stage.press("enter")
        assert not stage.screen.has_class("-inspecting")
        await stage.press("o")
        assert stage.screen.has_class("-inspecting")
        await stage.press("f12")
        stage.panel("pm").focus()
        await stage.press("x")
        assert stage.state("pm#1") == "executing"
        assert stage.bar.text.endswith("x"), "it is a letter like any other now"
        await stage.press("ctrl+c")
        stage.panel("pm").focus()
        await stage.press("c")
        await stage.until(lambda: stage.state("pm#1") == "cancelled")

        await stage.press("f1")
        assert "c, F9" in stage.dialog
        assert "Ctrl+S" in stage.dialog
        await stage.press("escape", "f10")
        await stage.until(lambda: stage.app.return_code == 0, "the end")
