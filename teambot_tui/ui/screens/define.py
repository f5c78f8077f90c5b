"""The form in which a temporary agent is defined, for those who do not want to type the braces.

It writes a definition of the language and lets that be checked, so the form knows no rule of its own. What is
in it is not lost when it is left.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Select, Static, TextArea

from teambot_tui.engine.outcomes import RefusedError
from teambot_tui.engine.text import printable
from teambot_tui.language.names import is_agent_id
from teambot_tui.language.nodes import Definition, Field, Span
from teambot_tui.language.render import render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from textual.app import ComposeResult

    from teambot_tui.engine.explain import Explanation

_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is in the form."""

    name: str = ""
    base: str = "general-purpose"
    prompt: str = ""
    model: str = ""

    @property
    def is_begun(self) -> bool:
        """Whether enough is there to call it wrong; before, it is only incomplete."""
        return bool(self.name and self.prompt.strip() and not self.name.endswith("-"))

    @property
    def statement(self) -> str:
        """The definition as somebody would have typed it."""
        fields = {"base": self.base, "prompt": self.prompt, "model": self.model.strip()}
        written = tuple(
            Field(key, value, _NOWHERE, _NOWHERE) for key, value in fields.items() if value or key != "model"
        )
        return render([Definition(self.name, _NOWHERE, written, _NOWHERE)])


class DefineScreen(ModalScreen[str | None]):
    """Asks for the fields; answers with the definition, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", priority=True),
        Binding("ctrl+s", "define", "Define", priority=True),
    ]

    def __init__(
        self,
        draft: Draft,
        bases: Sequence[str],
        explain: Callable[[str], Future[Explanation]],
        remember: Callable[[Draft], None],
    ) -> None:
        super().__init__()
        self._draft = draft
        self._bases = tuple(dict.fromkeys(bases))
        self._explain = explain
        self._remember = remember

    def compose(self) -> ComposeResult:
        draft = self._draft
        with VerticalScroll(classes="dialog form") as box:
            box.border_title = Content("Define a temporary agent")
            box.border_subtitle = Content("^S defines · Tab next field · Esc leaves, nothing is lost")
            with Horizontal():
                yield Label("name")
                yield Input(draft.name, placeholder="security-scanner", id="define-name", max_length=64)
            with Horizontal():
                yield Label("base")
                base = draft.base if draft.base in self._bases else self._bases[0]
                yield Select(
                    [(name, name) for name in self._bases], value=base, allow_blank=False, id="define-base"
                )
            with Horizontal(classes="tall"):
                yield Label("prompt")
                yield TextArea(draft.prompt, id="define-prompt", tab_behavior="focus")
            with Horizontal():
                yield Label("model")
                yield Input(draft.model, placeholder="as its base", id="define-model", max_length=200)
            yield Static("", id="define-says", markup=False)

    async def on_mount(self) -> None:
        self.query_one("#define-name").focus()
        await self._look()

    async def _find_complaint(self, draft: Draft) -> str:
        """Return what is wrong with a draft, if anything is."""
        if not is_agent_id(draft.name):
            return "A name is a small letter, then small letters, digits and single hyphens: security-scanner"
        try:
            explanation = await asyncio.wrap_future(self._explain(draft.statement))
        except RefusedError as error:
            return str(error)
        if (wrong := explanation.error) is None:
            return ""
        return wrong.message + (f" ({wrong.hint})" if wrong.hint else "")

    async def _look(self) -> bool:
        """Say what is wrong with what is in the form; tell whether nothing is."""
        base = self.query_one("#define-base", Select).value
        self._draft = draft = Draft(
            printable(self.query_one("#define-name", Input).value).strip(),
            base if isinstance(base, str) else "",
            printable(self.query_one("#define-prompt", TextArea).text),
            printable(self.query_one("#define-model", Input).value),
        )
        self._remember(draft)
        complaint = await self._find_complaint(draft)
        if draft is self._draft:  # else the newer one is looked at
            says = self.query_one("#define-says", Static)
            says.set_class(bool(complaint) and draft.is_begun, "-error")
            says.set_class(bool(complaint) and not draft.is_begun, "-incomplete")
            says.update(Content(complaint or f"defines ${draft.name}"))
        return not complaint

    async def on_input_changed(self) -> None:
        await self._look()

    async def on_text_area_changed(self) -> None:
        await self._look()

    async def on_select_changed(self) -> None:
        await self._look()

    def on_input_submitted(self) -> None:
        self.focus_next()

    async def action_define(self) -> None:
        """Close with the definition, unless something is wrong with it."""
        if await self._look():
            self.dismiss(self._draft.statement)
        else:
            self.app.bell()

    def action_leave(self) -> None:
        """Close a list that is open, or the form."""
        base = self.query_one("#define-base", Select)
        if base.expanded:
            base.expanded = False
        else:
            self.dismiss(None)
