"""What can be chosen in a session: its model and its mode, from the options that its agent offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp.schema import SessionConfigOptionSelect, SessionConfigSelectGroup

from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from acp.schema import SessionConfigOptionBoolean

    Options = Sequence[SessionConfigOptionSelect | SessionConfigOptionBoolean]

_MOST_SHOWN = 40


def option_for(category: str, options: Options) -> SessionConfigOptionSelect | None:
    """Find the option that chooses the model, or the mode."""
    selects = [option for option in options if isinstance(option, SessionConfigOptionSelect)]
    named = [option for option in selects if option.id == category]
    return next((option for option in selects if option.category == category), next(iter(named), None))


def choices(option: SessionConfigOptionSelect) -> dict[str, str]:
    """The values of an option with their names."""
    found: dict[str, str] = {}
    for each in option.options:
        inner = each.options if isinstance(each, SessionConfigSelectGroup) else [each]
        found.update({choice.value: choice.name for choice in inner})
    return found


def find(what: str, wanted: str, offered: Mapping[str, str], agent: str) -> str:
    """Return the value that is meant, by itself or by its name.

    Raises:
        BackendError: It is not offered.
    """
    if wanted in offered:
        return wanted
    for value, name in offered.items():
        if wanted.casefold() in (value.casefold(), name.casefold()):
            return value
    raise BackendError(f"{agent} has no {what} {wanted}: it offers {_listed(offered)}")


def _listed(values: Iterable[str]) -> str:
    known = list(values)
    more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    return ", ".join(known[:_MOST_SHOWN]) + more if known else "none"
