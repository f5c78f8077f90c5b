"""The characters to draw with, and times, sizes and amounts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.states import STATES, role_of

if TYPE_CHECKING:
    from teambot_tui.engine.ports import Usage

_UNICODE: Final = {
    "prompt": "›",
    "plan": "▸",
    "bar": "▏",
    "below": "▼",
    "arrow": "→",
    "from": "←",
    "ellipsis": "…",
    "dot": "·",
    "tool": "⚙",
    "thumb": "┃",
    "track": "│",
    "before": "‹",
    "beyond": "›",
}
_ASCII: Final = {
    "prompt": ">",
    "plan": ">",
    "bar": "|",
    "below": "v",
    "arrow": "->",
    "from": "<-",
    "ellipsis": "...",
    "dot": "-",
    "tool": "#",
    "thumb": "#",
    "track": "|",
    "before": "<",
    "beyond": ">",
}


class Glyphs:
    """The characters to draw with: Unicode's, or ASCII's where the terminal has no others."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self.ascii_only = ascii_only
        own = _ASCII if ascii_only else _UNICODE
        states = {name: look.ascii if ascii_only else look.glyph for name, look in STATES.items()}
        self._glyphs = {**own, **states}

    def __getitem__(self, name: str) -> str:
        return self._glyphs[name]


def style_of(state: str) -> str:
    """Return the style of a state, for content."""
    return f"${role_of(state)}"


def duration(seconds: float) -> str:
    """Return a time as people read it on a panel: `0:48`, `12:05`, `1:02:03`."""
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def roughly(seconds: float) -> str:
    """Return a time where only its length matters: `3m`, `2h`."""
    minutes = int(seconds // 60)
    return f"{minutes}m" if minutes < 100 else f"{minutes // 60}h"


def size(count: int) -> str:
    """Return a size in bytes in few characters: `812`, `2.1k`, `3.4M`."""
    for unit, step in (("M", 1024**2), ("k", 1024)):
        if count >= step:
            return f"{count / step:.1f}{unit}"
    return str(count)


def size_in_words(count: int) -> str:
    """Return a size with its unit, where it stands alone: `812 B`, `2.1 kB`, `3.4 MB`."""
    number = size(count)
    return f"{number} B" if number.isdigit() else f"{number[:-1]} {number[-1]}B"


def tokens(count: int) -> str:
    """Return a number of tokens in few characters: `812`, `12.4k`, `3.4M`."""
    for unit, step in (("M", 1_000_000), ("k", 1000)):
        if count >= step:
            return f"{count / step:.1f}{unit}"
    return str(count)


def money(dollars: float) -> str:
    """Return an amount in dollars: `$0.21`, and what is less than a cent as `<$0.01`."""
    return "<$0.01" if 0 < dollars < 0.005 else f"${dollars:,.2f}"


def used(usage: Usage | None, glyphs: Glyphs, unit: str = "") -> str:
    """Return what was used, as far as it is known: `12.4k · $0.21`; else how full the context is."""
    if usage is None:
        return ""
    known = [f"{tokens(usage.tokens)}{unit}"] if usage.tokens else []
    if not usage.tokens and usage.context:
        known = [f"context {tokens(usage.context)}"]
    if usage.cost is not None:
        known.append(money(usage.cost))
    return f" {glyphs['dot']} ".join(known)
