"""No class is spread over files by inheritance, and no name means two classes."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1] / "teambot_tui"
PACKAGES: Final = ("agents", "headless", "language", "store", "ui", "workflows")


def modules(*more: str) -> list[ast.Module]:
    """Return every module of the packages, and of more of them."""
    paths = [path for package in (*PACKAGES, *more) for path in sorted((ROOT / package).rglob("*.py"))]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def classes(*more: str) -> list[ast.ClassDef]:
    """Return every class that stands at the top of a module."""
    return [node for module in modules(*more) for node in module.body if isinstance(node, ast.ClassDef)]


def bases_of(node: ast.ClassDef) -> list[str]:
    """Return the names of a class's bases, without their type arguments."""
    return [ast.unparse(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]


def test_a_base_class_has_two_subclasses_or_a_use_of_its_own() -> None:
    ours = {node.name: node for node in classes()}
    subclasses = Counter(base for node in ours.values() for base in bases_of(node) if base in ours)
    made = {
        ast.unparse(node.func)
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
    }
    assert [
        name
        for name, count in subclasses.items()
        if count == 1
        and name not in made
        and not name.endswith("Error")
        and "Protocol" not in bases_of(ours[name])
    ] == []


def test_a_name_means_one_class() -> None:
    assert [
        name for name, count in Counter(node.name for node in classes("engine")).items() if count > 1
    ] == []
