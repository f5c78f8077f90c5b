"""The language: text in, values out. It knows no team, no clock and no terminal."""

from teambot_tui.language.errors import StatementError
from teambot_tui.language.parser import parse
from teambot_tui.language.render import render

__all__ = ["StatementError", "parse", "render"]
