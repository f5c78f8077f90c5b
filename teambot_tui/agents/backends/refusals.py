"""What a server means that answers with anything but success, in words the user can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.agents.backends import chat_api
from teambot_tui.agents.backends.passing import PassingError, retry_after
from teambot_tui.engine.ports import BackendError
from teambot_tui.engine.text import one_line
from teambot_tui.language.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teambot_tui.agents.backends.http import Answer

WRONG_PLACE: Final = "is base_url right? It usually ends in /v1"
_SHOWN_MODELS: Final = 20


def refusal(answer: Answer, content: str, key_origin: str) -> BackendError:
    """Return the error for a status, with what the server says itself; one that may pass if it may.

    `key_origin` says where the key came from that was sent, and is empty if none was.
    """
    status = answer.status
    where = f"{answer.origin} (HTTP {status})"
    told = chat_api.told_in(content)
    said = f"; it says: {told}" if told else ""
    if status == 429 or status >= 500:
        after = retry_after(answer.header("retry-after"))
        asks = f" and asks to wait {after:.0f} s" if after else ""
        return PassingError(f"{where} {'is busy' if status == 429 else 'failed'}{asks}{said}", after)
    if status in (401, 403):
        cure = f"check {key_origin}" if key_origin else "set api_key_env to the variable that holds its key"
        return BackendError(f"{where} does not let us in: {cure}{said}")
    if 300 <= status < 400:
        target = one_line(answer.header("location"), 200) or "nowhere"
        return BackendError(f"{where} sends us on to {target}: set base_url to the right address")
    if content.lstrip().startswith("<"):
        return BackendError(f"{where} answers with a web page: {WRONG_PLACE}")
    if status in (404, 405) and not told:
        return BackendError(f"{where} has no chat API there: {WRONG_PLACE}")
    return BackendError(f"{where} refuses the request{said}")


def unknown_model(name: str, where: str, offered: Sequence[str]) -> BackendError:
    """Return the error for a model that the server does not have, with those it has."""
    shown = one_line(name, 80)
    near = did_you_mean(shown, offered)
    hint = f" Did you mean {near}?" if near else ""
    return BackendError(f"unknown model {shown}.{hint} {offer(where, offered)}")


def offer(where: str, offered: Sequence[str]) -> str:
    """Say which models there are, not more than one can read."""
    if not offered:
        return f"{where} offers no model"
    more = f" and {len(offered) - _SHOWN_MODELS} more" if len(offered) > _SHOWN_MODELS else ""
    return f"{where} offers: {', '.join(offered[:_SHOWN_MODELS])}{more}"
