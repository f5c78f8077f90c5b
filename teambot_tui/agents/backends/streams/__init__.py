"""The streams that known command line agents print, by name; one module for each shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.agents.backends.streams.claude import ClaudeStream
from teambot_tui.agents.backends.streams.codex import CodexStream
from teambot_tui.agents.backends.streams.copilot import CopilotStream
from teambot_tui.agents.backends.streams.gemini import GeminiStream
from teambot_tui.agents.backends.streams.opencode import OpencodeStream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teambot_tui.agents.backends.streams.shape import Stream

STREAMS: Final[Mapping[str, type[Stream]]] = {
    "claude-json": ClaudeStream,
    "codex-json": CodexStream,
    "gemini-json": GeminiStream,
    "copilot-json": CopilotStream,
    "opencode-json": OpencodeStream,
}
