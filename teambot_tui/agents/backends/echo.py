"""The agent that adds nothing: its answer is the prompt it was sent, so that prompts can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teambot_tui.engine.ports import Text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.engine.ports import Request


class Echo:
    """Answers with the prompt, in one piece."""

    async def run(self, request: Request) -> AsyncGenerator[Text, None]:
        """Yield the prompt as it was sent; an empty one has no answer."""
        if request.prompt:
            yield Text(request.prompt)
