"""Our own pair of themes, and the roles in which everything is drawn, in any theme of Textual's, too.

Stylesheets and contents name roles: whose turn it is, what an output is, what is quiet. A theme gives each
a colour. Text in any of them can be read on the background and on a surface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTO: Final = "auto"
"""The theme that fits the terminal, as far as the terminal says what it looks like."""
_COLOURS: Final = {
    "background": ("#10141c", "#fbfcfe"),
    "surface": ("#171c27", "#eef1f6"),
    "rule": ("#2b3344", "#d4dae4"),
    "foreground": ("#d5dce8", "#1d2430"),
    "strong": ("#ffffff", "#000000"),
    "quiet": ("#8592a8", "#5a6577"),
    "work": ("#5cc8ff", "#0369a1"),
    "wait": ("#f2b84b", "#8a5a00"),
    "done": ("#7fd88f", "#1a7a36"),
    "fail": ("#ff7a85", "#c02637"),
    "you": ("#ff9be8", "#a3188f"),
    "reference": ("#b9a3ff", "#6a3fc8"),
    "flow": ("#7dcfb6", "#0f766e"),
}
"""In the dark, and in the light."""
TEXT_ROLES: Final = tuple(_COLOURS)[3:]
"""Those in which text is drawn."""


def _theme(name: str, *, dark: bool) -> Theme:
    of = {role: pair[0 if dark else 1] for role, pair in _COLOURS.items()}
    return Theme(
        name,
        primary=of["work"],
        secondary=of["flow"],
        warning=of["wait"],
        error=of["fail"],
        success=of["done"],
        accent=of["reference"],
        foreground=of["foreground"],
        background=of["background"],
        surface=of["surface"],
        panel=of["surface"],
        dark=dark,
        variables={
            **of,
            "boost": of["surface"],
            # What Textual's own widgets are drawn in.
            "text-primary": of["work"],
            "text-secondary": of["flow"],
            "text-warning": of["wait"],
            "text-error": of["fail"],
            "text-success": of["done"],
            "text-accent": of["reference"],
            "text-muted": of["quiet"],
            "text-disabled": of["quiet"],
            "foreground-muted": of["quiet"],
            "border": of["work"],
            "border-blurred": of["rule"],
            "block-cursor-foreground": of["background"],
            "block-cursor-background": of["work"],
            "scrollbar": of["rule"],
            "scrollbar-hover": of["quiet"],
            "scrollbar-active": of["quiet"],
            "scrollbar-background": of["background"],
            "scrollbar-background-hover": of["background"],
            "scrollbar-background-active": of["background"],
            "scrollbar-corner-color": of["background"],
            "markdown-h1-color": of["strong"],
            "markdown-h2-color": of["strong"],
            "markdown-h3-color": of["foreground"],
        },
    )


DARK: Final = _theme("teambot-dark", dark=True)
LIGHT: Final = _theme("teambot-light", dark=False)


def roles(theme: Theme) -> dict[str, str]:
    """Return a colour for every role in a theme that does not know them, from those that every theme has."""
    known = theme.to_color_system().generate()
    own = DARK if theme.dark else LIGHT
    return {
        "rule": known.get("foreground-disabled", "ansi_bright_black"),
        "strong": known["foreground"],
        "quiet": known["text-muted"],
        "work": known["text-primary"],
        "wait": known["text-warning"],
        "done": known["text-success"],
        "fail": known["text-error"],
        # Nothing else may have this one, and no theme keeps one for it.
        "you": "ansi_bright_magenta" if theme.ansi else own.variables["you"],
        "reference": known["text-accent"],
        "flow": known["text-secondary"],
    }


def theme_for(environ: Mapping[str, str]) -> str:
    """Return the theme that fits the terminal: `COLORFGBG` ends with its background, 7 and 15 are light."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in ("7", "15") else DARK.name
