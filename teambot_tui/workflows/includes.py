"""`{{include: path.md}}`: that file in its place, and what it includes in theirs.

Paths count from the including file. No file can include itself, by whatever way, and depth, number and size
of what is included have limits: a few small files cannot become an endless text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from teambot_tui.engine.headings import as_data
from teambot_tui.engine.text import size_in_bytes
from teambot_tui.workflows.directives import Kind, find_directives
from teambot_tui.workflows.errors import FileError, IncludeError

if TYPE_CHECKING:
    from pathlib import Path

    from teambot_tui.workflows.files import ProjectFiles

DEEPEST: Final = 10
MOST: Final = 1000
LARGEST: Final = 1024 * 1024


def expand_includes(text: str, file: Path, files: ProjectFiles) -> str:
    """Return the text of a file with its includes done; every other directive stays as it is.

    Raises:
        IncludeError: A file is missing, binary, too large, outside the project or includes itself.
    """
    expansion = _Expansion(files)
    return expansion.expand(text, (file,), (files.shown(file),))


def include(name: str, folder: Path, files: ProjectFiles) -> str:
    """Return the text of a file that is named in no file, but typed, with its includes done.

    Raises:
        IncludeError: As above.
    """
    return _Expansion(files).included(name, (folder / "typed",), ())


@dataclass(slots=True)
class _Expansion:
    files: ProjectFiles
    count: int = 0
    size: int = 0

    def expand(self, text: str, chain: tuple[Path, ...], names: tuple[str, ...]) -> str:
        pieces: list[str] = []
        position = 0
        for directive in find_directives(text):
            if directive.kind is Kind.INCLUDE:
                pieces += (
                    self._grow(text[position : directive.start], names),
                    self.included(directive.name, chain, names),
                )
                position = directive.end
        pieces.append(self._grow(text[position:], names))
        return "".join(pieces)

    def included(self, name: str, chain: tuple[Path, ...], names: tuple[str, ...]) -> str:
        longer = (*names, name or "(no path)")
        self.count += 1
        if self.count > MOST:
            raise IncludeError(longer, f"more than {MOST:,} includes", "put some of the files together")
        if len(chain) > DEEPEST:
            raise IncludeError(
                longer,
                f"includes are nested more than {DEEPEST} deep",
                "include the last ones from a file further up",
            )
        if not name:
            raise IncludeError(longer, "a path is missing", "write: {{include: path.md}}")
        try:
            path = self.files.find(chain[-1].parent / name)
            longer = (*names, self.files.shown(path))
            if path in chain:
                raise IncludeError(
                    longer,
                    "a file includes itself",
                    f"take the include out of {longer[-2] if names else name}",
                )
            text = as_data(self.files.read(path))
        except FileError as error:
            raise IncludeError(longer, str(error), error.hint) from error
        return self.expand(text, (*chain, path), longer)

    def _grow(self, text: str, names: tuple[str, ...]) -> str:
        self.size += size_in_bytes(text)
        if self.size > LARGEST:
            raise IncludeError(
                names,
                f"with its includes the text is too large: more than {LARGEST:,} bytes",
                "include the parts that matter",
            )
        return text
