"""Where the stylesheets are: in the package once installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path, PurePath

_PACKAGE = Path(__file__).resolve().parent.parent


def stylesheets(*names: str) -> list[str | PurePath]:
    """Return the absolute paths of the stylesheets, so that a subclass anywhere finds them."""
    shipped = _PACKAGE / "styles"
    folder = shipped if shipped.is_dir() else _PACKAGE.parent / "styles"
    return [folder / f"{name}.tcss" for name in names]
