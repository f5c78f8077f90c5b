"""A temporary agent as a file: the same words as a persona's, and the base that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teambot_tui.agents.errors import PersonaError
from teambot_tui.agents.files import UnreadableError, decode
from teambot_tui.agents.frontmatter import Entry, FrontMatterError, split
from teambot_tui.agents.persona import checked_name
from teambot_tui.engine.text import one_line, printable

if TYPE_CHECKING:
    from pathlib import Path

_NOTHING = Entry(0, "")
_LONGEST_DESCRIPTION = 120


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What the file of a temporary agent says."""

    name: str
    base: str
    prompt: str
    model: str | None = None
    description: str = ""

    @property
    def summary(self) -> str:
        """The description or, without one, how the prompt begins."""
        return self.description or one_line(self.prompt, _LONGEST_DESCRIPTION)


def parse_agent_file(path: Path, content: bytes) -> AgentFile:
    """Return the agent that a file's content describes.

    Raises:
        PersonaError: It does not describe one.
    """
    try:
        entries, body = split(printable(decode(content)))
        name = checked_name(entries.get("name", _NOTHING))
        base = one_line(entries.get("base", _NOTHING).text())
        model = one_line(entries.get("model", _NOTHING).text())
        description = one_line(entries.get("description", _NOTHING).text())
    except UnreadableError as error:
        raise PersonaError(path, 0, str(error)) from error
    except FrontMatterError as error:
        raise PersonaError(path, error.line, str(error)) from error
    if not base:
        raise PersonaError(path, 0, "`base` is missing: such as `base: general-purpose`")
    if not body.strip():
        raise PersonaError(path, 0, "has no prompt: write it below the front matter")
    return AgentFile(name, base, body.strip(), None if model in ("", "inherit") else model, description)


def render_agent_file(agent: AgentFile) -> str:
    """Return the text of a file that describes the agent."""
    lines = [
        "---",
        f"name: {agent.name}",
        f"description: {_quoted(agent.summary)}",
        f"base: {agent.base}",
        *([f"model: {_quoted(agent.model)}"] if agent.model else []),
        "---",
        agent.prompt.strip(),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
