"""Waiting that ends: after a time, or however often we are cancelled meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def at_most(seconds: float) -> AsyncIterator[None]:
    """Give what is awaited in the block up after that time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield


async def to_its_end(task: asyncio.Task[None]) -> None:
    """Wait for the task however often we are cancelled, and pass the cancellation on afterwards."""
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
