"""What a person can ask about workflows in files: run one, and save what was done as one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.service import Service
from teambot_tui.workflows.errors import ComposeError, WorkflowError

if TYPE_CHECKING:
    from collections.abc import Callable

    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.controllers.person import Person
    from teambot_tui.workflows.plan import WorkflowPlan
    from teambot_tui.workflows.up_command import UpCommand


class WorkflowActions:
    """A person's requests about workflows."""

    def __init__(self, person: Person, bridge: Bridge, folder: Path) -> None:
        self._person = person
        self._bridge = bridge
        self._folder = folder

    def up(self, command: UpCommand, begun: Callable[[], None], refused: Callable[[str, str], None]) -> None:
        """Show a workflow, and start it if that is wanted; the command comes back if it cannot be used."""
        self._person.in_background(self._show_and_begin(command, begun, refused))

    async def _show_and_begin(
        self, command: UpCommand, begun: Callable[[], None], refused: Callable[[str, str], None]
    ) -> None:
        try:
            chosen = await self._person.preview(await self._load(command), lambda: self._load(command))
            if chosen is None:
                return
            await asyncio.wrap_future(self._bridge.ask(Service.begin_workflow, chosen.number))
        except (ComposeError, RefusedError) as error:
            refused(command.text, str(error))
        else:
            begun()
        finally:
            self._bridge.ask(Service.forget_plans)

    async def _load(self, command: UpCommand) -> WorkflowPlan:
        return await asyncio.wrap_future(self._bridge.run(Service.load_workflow, self._folder, command))

    def save(self, file: str) -> None:
        """Write what was done as a compose file, asking before another is overwritten."""
        self._person.in_background(self._save(file))

    async def _save(self, file: str) -> None:
        try:
            text = await asyncio.wrap_future(self._bridge.ask(Service.save_text))
            path = await asyncio.to_thread(self._path, file)
            if not await asyncio.to_thread(_written, path, text):
                if not await self._person.confirm(f"Overwrite {path.name}?", f"{path} is there already."):
                    return
                await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        except WorkflowError as error:
            self._person.tell(str(error), alarm=True)
        except (OSError, RuntimeError) as error:  # there may be no such home
            self._person.tell(f"Could not write it: {getattr(error, 'strerror', None) or error}", alarm=True)
        else:
            self._person.tell(f"Saved to {path}. /up {file} runs it, or in a shell: teambot up -f {file}")

    def _path(self, file: str) -> Path:
        return (self._folder / Path(file).expanduser()).resolve()


def _written(path: Path, text: str) -> bool:
    """Write a file that is not there yet; tell whether that was so."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return False
    return True
