"""An app in which one widget is tried: with our roles, as every stylesheet of ours needs them."""

from __future__ import annotations

from textual.app import App

from teambot_tui.ui.themes import roles


class Bare(App[None]):
    """Knows the roles."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return roles(self.current_theme)
