"""The plan of a submission, for people and for scripts: who would start, who would wait, what would go in."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from teambot_tui.headless.run import COMPLETED, NOT_ALL_COMPLETED, describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.engine.explain import Explanation, Step
    from teambot_tui.headless.output import OutputStream


def print_plan(
    explanation: Explanation, output: OutputStream, complain: Callable[[str], None], *, as_json: bool
) -> int:
    """Print what would happen; return the exit status."""
    if explanation.error is not None:
        complain(describe(explanation.error))
        return NOT_ALL_COMPLETED
    width = max((len(step.task) for step in explanation.steps), default=0)
    for agent in explanation.defined:
        if as_json:
            replaces = agent in explanation.replaced
            output.write(json.dumps({"event": "define", "agent": agent, "replaces": replaces}) + "\n")
        elif agent in explanation.replaced:
            output.write(f"defines ${agent} for this session, in place of the promoted @{agent}\n")
        else:
            output.write(f"defines ${agent}\n")
    for slip in explanation.slips:
        complain(f"note: {slip.message}")
    for step in explanation.steps:
        if as_json:
            output.write(json.dumps({"event": "step", **asdict(step), "starts": step.starts}) + "\n")
        else:
            output.write(f"{step.task:{width}}  {_sentence(step)}\n")
    return COMPLETED


def _sentence(step: Step) -> str:
    clauses = [step.outlook]
    if step.model:
        clauses.append(f"model {step.model}")
    if step.inputs:
        clauses.append("gets " + ", ".join(map(str, step.inputs)))
    if step.background:
        clauses.append("in the background")
    return "; ".join(clauses)
