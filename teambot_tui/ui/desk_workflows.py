"""What a person can ask about workflows in files: run one, and save what was done as one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.workflows.errors import ComposeError, WorkflowError

if TYPE_CHECKING:
    from collections.abc import Collection

    from teambot_tui.engine.ids import TaskId
    from teambot_tui.engine.session import Session
    from teambot_tui.ui.bridge import Bridge
    from teambot_tui.ui.desk import Surface
    from teambot_tui.ui.mirror import Mirror
    from teambot_tui.workflows.up import Up
    from teambot_tui.workflows.up_command import UpCommand


class WorkflowDesk:
    """A person's requests about workflows."""

    def __init__(self, surface: Surface, bridge: Bridge, mirror: Mirror, folder: Path) -> None:
        self._surface = surface
        self._bridge = bridge
        self._mirror = mirror
        self._folder = folder

    def up(self, wish: UpCommand) -> None:
        """Show a workflow, and start it if that is wanted; the command comes back if it cannot be used."""
        self._surface.in_background(self._show_and_begin(wish))

    async def _show_and_begin(self, wish: UpCommand) -> None:
        try:
            chosen = await self._surface.preview(await self._load(wish), lambda: self._load(wish))
            if chosen is None:
                return
            await asyncio.wrap_future(self._bridge.ask(lambda _: chosen.begin()))
        except (ComposeError, RefusedError) as error:
            self._surface.give_back(wish.text, str(error))
        else:
            self._surface.watch_live()

    async def _load(self, wish: UpCommand) -> Up:
        # The engine goes on while the file is read: whatever changes meanwhile, `begin` looks at again.
        def read(session: Session) -> Up:
            from teambot_tui.workflows.opening import open_up  # noqa: PLC0415  most sessions read no YAML

            return open_up(session, self._folder, wish.file, wish.names, wish.iterations, run=session.run_id)

        return await asyncio.wrap_future(self._bridge.run(lambda session: asyncio.to_thread(read, session)))

    def falls_with(self, tasks: Collection[TaskId]) -> str:
        """Say, behind what cancelling these tasks does, what it does to workflows."""
        said = self._mirror.ups.falls_with(tasks)
        return f"; {said}" if said else ""

    def save(self, file: str) -> None:
        """Write what was done as a compose file, asking before another is overwritten."""
        self._surface.in_background(self._save(file))

    async def _save(self, file: str) -> None:
        from teambot_tui.workflows.save import save_text  # noqa: PLC0415  as above

        try:
            text = await asyncio.wrap_future(
                self._bridge.ask(lambda session: save_text(session.board, session.roster))
            )
            path = await asyncio.to_thread(self._place, file)
            if not await asyncio.to_thread(_written, path, text):
                if not await self._surface.confirm(f"Overwrite {path.name}?", f"{path} is there already."):
                    return
                await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        except WorkflowError as error:
            self._surface.tell(str(error), alarm=True)
        except (OSError, RuntimeError) as error:  # there may be no such home
            self._surface.tell(f"Could not write it: {getattr(error, 'strerror', None) or error}", alarm=True)
        else:
            self._surface.report("Saved", Content(f"{path}\n\nIt runs with: teambot up -f {file}"))

    def _place(self, file: str) -> Path:
        return (self._folder / Path(file).expanduser()).resolve()


def _written(path: Path, text: str) -> bool:
    """Write a file that is not there yet; tell whether that was so."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        return False
    return True
