"""What a slash command of the screen is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teambot_tui.ui.desk import Desk


class CommandError(Exception):
    """A command that cannot be carried out; the text says what to type."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """What a command takes, what it does in words, and the function that does it.

    A command that is `whole` gets what stands behind it as one text, else word by word.
    """

    arguments: str
    words: str
    run: Callable[[Desk, list[str]], None]
    choices: Callable[[Desk], Sequence[str]] = lambda _: ()
    """What its first word can be, as far as that can be told."""
    whole: bool = False
