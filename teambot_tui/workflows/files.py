"""The text files of a project: read whole and bounded, and only if they really lie in it.

Links are resolved first; then the file is opened folder by folder without following any, so that what was
checked is what is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from teambot_tui.engine.files import UnreadableError, decode_text, read_inside
from teambot_tui.engine.text import printable

if TYPE_CHECKING:
    from pathlib import Path

_CHECK: Final = (
    "check the spelling: a path counts from the file that names it, a typed one from the project's folder"
)


class ProjectFiles:
    """Reads text files below one folder, each once."""

    def __init__(self, project: Path) -> None:
        self._project = project.resolve()
        self._texts: dict[Path, str] = {}

    def shown(self, path: Path) -> str:
        """Return how a path is shown to the user: from the project on, if it is in it."""
        return str(path.relative_to(self._project) if path.is_relative_to(self._project) else path)

    def find(self, path: Path) -> Path:
        """Return where a path really leads.

        Raises:
            UnreadableError: It leads out of the project, or nowhere.
        """
        try:
            found = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links is one or the other
            raise UnreadableError("cannot be found: its path is not valid", _CHECK) from error
        if not found.is_relative_to(self._project):
            raise UnreadableError("is outside the project", f"copy it into {self._project}")
        return found

    def read(self, path: Path) -> str:
        """Return the text of a file that `find` has found.

        Raises:
            UnreadableError: It does not exist, is not a text, or is too large.
        """
        if path not in self._texts:
            self._texts[path] = printable(decode_text(self._content(path)))
        return self._texts[path]

    def _content(self, path: Path) -> bytes:
        try:
            return read_inside(self._project, path)
        except FileNotFoundError as error:
            raise UnreadableError("does not exist", _CHECK) from error
        except UnreadableError as error:
            raise UnreadableError(str(error), error.hint or _CHECK) from error
