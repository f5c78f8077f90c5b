"""Nothing an agent, a file or a name says is ever obeyed by the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.pty.terminal import agents

if TYPE_CHECKING:
    from tests.pty.conftest import Open

COMMANDS = {
    "clipboard": b"\x1b]52;c;bWFya2Vy\x07",
    "title": b"\x1b]0;MARKtitle\x07",
    "title_st": b"\x1b]2;MARKtitle2\x1b\\",
    "link": b"\x1b]8;;http://MARKlink\x1b\\",
    "erase": b"\x1b[2J\x1b[7;13H\x1b[3J",
    "reset": b"\x1bc",
    "apc": b"\x1b_MARKapc\x1b\\",
    "dcs": b"\x1bPMARKdcs\x1b\\",
    "pm": b"\x1b^MARKpm\x1b\\",
    "c1_csi": b"\xc2\x9b2J",
    "c1_osc": b"\xc2\x9d0;MARKc1\xc2\x9c",
    "c1_raw": b"\x9d0;MARKraw\x9c",
    "modes": b"\x1b[?9001h\x1b[?1007h",
    "nul": b"\x00\x00",
    "bell": b"\x07",
    "bidi": "\u202e\u2066\u200f".encode(),
    "entity": b"&#x202e;&#27;]0;MARKentity&#7;",
    "back": b"\x08\x08\x7f",
}
_WORDS = ("entity", "back")
"""What may be shown as it is written, or is common."""

MARKUP = "[/x] [@click=app.quit]go[/] list[str] [red]"


def written(data: bytes) -> str:
    """Return a program that prints these bytes."""
    return f"import sys; sys.stdout.buffer.write({data!r})"


def test_what_an_agent_prints(open_terminal: Open) -> None:
    said = b"".join(
        f"before-{name} ".encode() + data + f" after-{name}\n\n".encode() for name, data in COMMANDS.items()
    )
    unended = b"last words\n\n\x1b]52;c;bWFya2Vy"
    terminal = open_terminal(
        columns=120,
        rows=60,
        settings=agents(pm=written(said), ba=written(unended), writer=written(MARKUP.encode())),
    )
    terminal.until("Your team")
    start = len(terminal.raw)
    terminal.enter("@pm speak")
    terminal.until("1 pm        ✓ 0:", "pm#1")
    # Whole, folded and inspected
    terminal.enter("@ba repeat $pm")
    terminal.until("✓2", "last words")
    terminal.enter("@writer repeat")
    terminal.until("✓3", "[@click=app.quit]go[/]")
    for agent in ("pm", "ba"):
        terminal.enter(f"/task {agent}#1")
        terminal.until(f"@{agent} · {agent}#1", "Prompt · as it was sent", without="Tab complete")
        terminal.press("escape")
        terminal.until("Tab complete", without="Prompt · as it was sent")
    terminal.press("f3", "f3")
    terminal.press("ctrl+q")
    assert terminal.wait() == 0
    raw = bytes(terminal.raw[start:])
    for name, data in COMMANDS.items():
        assert name in _WORDS or data not in raw, name
    for piece in (
        b"\x1b]",
        b"\x1bc",
        b"\x1b_",
        b"\x1bP",
        b"\x1b^",
        b"\xc2\x9b",
        b"\xc2\x9d",
        b"\x00",
        b"\x07",
        b"bWFya2Vy",
    ):
        assert piece not in raw, piece
    assert "\u202e" not in raw.decode()
    terminal.assert_restored()
