"""What can be chosen in a session: its model and its mode, from the options that its agent offers.

Some agents offer their models not as an option but in a list of their own, which the SDK does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acp.schema import SessionConfigOptionSelect, SessionConfigSelectGroup

from teambot_tui.engine.ports import BackendError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from acp.schema import SessionConfigOptionBoolean

    Options = Sequence[SessionConfigOptionSelect | SessionConfigOptionBoolean]

_MOST_SHOWN = 40


@dataclass(slots=True)
class ModelList:
    """The models that an agent offers, by name, and the one it runs on."""

    current: str
    offered: dict[str, str]


def model_list(offer: Mapping[str, Any]) -> ModelList | None:
    """Return the list of models in what an agent offers for a session, if there is one."""
    match offer.get("models"):
        case {"currentModelId": str(current), "availableModels": list(models)}:
            known = [each for each in models if isinstance(each, dict)]
            offered = {str(each["modelId"]): str(each.get("name")) for each in known if "modelId" in each}
            return ModelList(current, offered)
    return None


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
