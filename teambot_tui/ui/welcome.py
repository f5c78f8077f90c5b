"""The first minute: an empty session shows the team, what is worth typing, and what everyone runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.engine.ids import AgentId

EXAMPLES: Final = (
    ("@pm,ba Analyse a login page -> @builder-1 Build it", "two in parallel, then one who gets both outputs"),
    ("@reviewer Check $builder-1 against $pm", "$agent waits for that agent; its output goes there"),
    ("@writer Write the release notes from $reviewer &", "& works in the background"),
)


HINT: Final = "type @agent and a task; $agent puts an agent's output in; -> hands it on"
"""What the plan line says to an empty input."""


def welcome(
    backends: Mapping[AgentId, str], descriptions: Mapping[AgentId, str], *, short: bool = False
) -> Content:
    """Return what an empty feed says; lines are cut where the feed ends, and the short one has few."""
    lines = [Content("Worth typing").stylize("bold")]
    for statement, meaning in EXAMPLES:
        lines.append(Content(f"  {statement}").stylize("$work"))
        if not short:
            lines.append(Content(f"      {meaning}").stylize("dim"))
    lines.append(Content("  Tab puts the first one into the input.").stylize("dim"))
    if set(backends.values()) == {"rehearsal"}:
        lines += [
            *([] if short else [Content("")]),
            Content("Everyone rehearses: no model is connected.").stylize("bold"),
            Content("  teambot doctor says what could be and where to set it" + ("." if short else ":")),
            *([] if short else [Content('  backend = "NAME" in your settings.')]),
        ]
    lines += [*([] if short else [Content("")]), Content("Your team").stylize("bold")]
    width = max(map(len, backends), default=0)
    for number, (agent, backend) in enumerate(backends.items(), start=1):
        lines.append(
            Content(f"  {number} @{agent:{width}}  ").stylize("$work")
            + Content(f"({backend})  ").stylize("dim")
            + Content(descriptions.get(agent, ""))
        )
    return Content("\n").join(lines)
