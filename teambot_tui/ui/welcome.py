"""The first minute: an empty session shows the team, what is worth typing, and what everyone runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

from teambot_tui.engine.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teambot_tui.engine.ids import AgentId

EXAMPLES: Final = (
    ("@pm,ba Analyse a login page -> @builder-1 Build it", "two in parallel, then one who gets both outputs"),
    ("@reviewer Check $builder-1 against $pm", "$agent waits for that agent; its output goes there"),
    ("@writer Write the release notes from $reviewer &", "& works in the background"),
)
_LONGEST: Final = 200
HINT: Final = "type @agent and a task; $agent puts an agent's output in; -> hands it on"
"""What the plan line says to an empty input."""


_MOST: Final = 16
_MOST_SHORT: Final = 6
"""How many of the team have a line: with the rest of it that fills a screen of 30 rows, or of 24."""


def welcome(
    backends: Mapping[AgentId, str],
    descriptions: Mapping[AgentId, str],
    *,
    short: bool = False,
    found: Sequence[str] = (),
) -> Content:
    """Return what an empty feed says; lines are cut where the feed ends, and the short one has few.

    `found` is what is installed here and could be connected.
    """
    gap = [] if short else [Content("")]
    lines = _team(backends, descriptions, _MOST_SHORT if short else _MOST)
    lines += [*gap, Content("Worth typing").stylize("bold")]
    for statement, meaning in EXAMPLES:
        lines.append(Content(f"  {statement}").stylize("$work"))
        if not short:
            lines.append(Content(f"      {meaning}").stylize("$quiet"))
    lines.append(Content("  Tab puts the first one into the input.").stylize("$quiet"))
    if set(backends.values()) == {"rehearsal"}:
        lines += [*gap, Content("Everyone rehearses: no model is connected.").stylize("bold")]
        if found:
            names = ", ".join(found)
            lines.append(Content(f"  Installed here: {names}. The next start offers them again."))
        else:
            lines.append(Content("  teambot doctor says what could be connected, and how."))
    return Content("\n").join(lines)


def _team(backends: Mapping[AgentId, str], descriptions: Mapping[AgentId, str], most: int) -> list[Content]:
    """Return a line for each of the team; what all run on is told once."""
    different = set(backends.values())
    same = next(iter(different)) if len(different) == 1 else ""
    on = f" on {same}" if same not in ("", "rehearsal") else ""
    lines = [Content(f"Your team{on}").stylize("bold")]
    width = max(map(len, backends), default=0)
    longest = max(map(len, backends.values()), default=0)
    for number, (agent, backend) in enumerate(list(backends.items())[:most], start=1):
        line = Content(f"  {number:>{len(str(min(most, len(backends))))}} @{agent:{width}}  ")
        line = line.stylize("$work")
        if not same:
            line += Content(f"{f'({backend})':{longest + 2}}  ").stylize("$quiet")
        lines.append(line + Content(one_line(descriptions.get(agent, ""), _LONGEST)))
    if len(backends) > most:
        lines[-1] = Content(f"  … and {len(backends) - most + 1} more: /agents").stylize("$quiet")
    return lines
