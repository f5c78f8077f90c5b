"""The requests that wait for the person, one at a time, whole, and the keys that answer.

It stays from one question to the next: where none is left it says so, and closes a moment later.

A key answers only after a moment of quiet: not just after what is shown has changed, and not in the midst of
typing. So no key that was meant for anything else ever allows something. And nothing is allowed before its
end has been in view; rejecting is always possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from teambot_tui.engine.ports import Verdict
from teambot_tui.ui.canvas import clip
from teambot_tui.ui.keys import bindings, bound
from teambot_tui.ui.widgets.plain_lines import DiffLines

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from teambot_tui.engine.activity import PermissionRequest
    from teambot_tui.engine.ids import AgentId
    from teambot_tui.ui.glyphs import Glyphs
    from teambot_tui.ui.keys import Keys

QUIET: Final = 0.35
"""Seconds without a key or a change before a key answers."""
LINGER: Final = 0.8
"""Seconds for which it says that nobody waits any more."""
_LISTED: Final = 4
_WIDTH: Final = 200


class Inbox(ModalScreen[None]):
    """Shows a request at a time; closes when there are none."""

    AUTO_FOCUS = ""  # the keys are the screen's
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("approvals"),
        bound("back", "close"),
        bound("up", "step(-1)"),
        bound("down", "step(1)"),
        bound("approvals", "step(1)"),
        bound("scroll-up", "scroll_detail(-1)"),
        bound("scroll-down", "scroll_detail(1)"),
    ]

    def __init__(
        self,
        requests: tuple[PermissionRequest, ...],
        answer: Callable[[PermissionRequest, Verdict, bool, str], None],
        glyphs: Glyphs,
        keys: Keys,
        clock: Callable[[], float],
        *,
        of: AgentId | None = None,
        typed_at: float = 0.0,
    ) -> None:
        """Begin with the request of an agent, if it has one; `typed_at` is when a key was last pressed."""
        super().__init__()
        self._requests = requests
        self._answer = answer
        self._glyphs = glyphs
        self._keys = keys
        self._clock = clock
        self._chosen = next((request for request in requests if request.agent == of), requests[0])
        self._stirred = max(typed_at, clock())
        self._is_calm = False
        self._is_seen = False
        """Whether the end of the chosen request has been in view."""
        self._is_closed = False
        self._gone = 0
        """How many were answered or withdrawn since it was opened."""
        self._empty_since: float | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog question", id="approvals"):
            yield Static(id="approvals-list", markup=False)
            yield Static(id="approvals-head", markup=False)
            with VerticalScroll(id="approvals-detail", can_focus=False):
                yield DiffLines()
            yield Input(
                placeholder="what the agent is to do instead",
                compact=True,
                id="approvals-words",
                max_length=2000,
            )
            yield Static(id="approvals-keys", markup=False)

    def on_mount(self) -> None:
        self._draw()
        self.set_interval(LINGER / 4, self._close_after_a_moment)
        self.watch(self._detail, "scroll_y", self._show_keys, init=False)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_keys)

    def on_screen_resume(self) -> None:
        self._close_if_done()

    # What is shown

    @property
    def is_open(self) -> bool:
        """Whether what is shown here is still seen; leaving takes the screen a moment."""
        return self.is_attached and not self._is_closed

    def show(self, requests: tuple[PermissionRequest, ...]) -> None:
        """Show these; where the one in view is gone, the next takes its place."""
        if requests == self._requests:
            return
        before, self._requests = self._requests, requests
        self._gone += sum(request not in requests for request in before)
        self._empty_since = None
        if not requests:
            self._stop_writing()
            self._say_that_all_is_done()
            self._close_if_done()
            return
        if self._chosen not in requests:
            place = before.index(self._chosen) if self._chosen in before else 0
            later = [request for request in before[place:] if request in requests]
            self._choose(later[0] if later else requests[-1])
        elif self.is_mounted:
            self._draw()

    def _choose(self, request: PermissionRequest) -> None:
        self._chosen = request
        self._is_seen = False
        self._stirred = self._clock()
        self._stop_writing()  # what was meant for one request is not said to another
        if self.is_mounted:
            self._detail.scroll_home(animate=False, immediate=True)
            self._draw()

    def _close_if_done(self) -> None:
        if not self._requests and self._empty_since is None:
            self._empty_since = self._clock()

    def _close_after_a_moment(self) -> None:
        is_over = self._empty_since is not None and self._clock() - self._empty_since >= LINGER
        if is_over and self.app.screen is self:  # what lies over it is not ours to close
            self.action_close()

    def _say_that_all_is_done(self) -> None:
        """Say calmly that nobody waits any more: an agent that goes on may ask again in a moment."""
        if not self.is_mounted:
            return
        self.query_one("#approvals").border_title = Content("Approvals")
        self.query_one("#approvals-list", Static).update("")
        self.query_one("#approvals-head", Static).update(Content("Nothing more: nobody waits for an answer."))
        self.query_one(DiffLines).show("")
        self.query_one("#approvals-keys", Static).update(
            Content(self._keys.said("back")).stylize("bold $reference") + Content(" closes")
        )

    def _draw(self) -> None:
        request, glyphs = self._chosen, self._glyphs
        dot = f" {glyphs['dot']} "
        box = self.query_one("#approvals")
        place = self._requests.index(request)
        box.border_title = Content(
            f"Approvals {self._gone + place + 1} of {self._gone + len(self._requests)}"
        )
        self.query_one("#approvals-list", Static).update(self._list(place))
        head = Content(f"{glyphs['asking']} @{request.agent}").stylize("$you bold")
        head += Content(f"{dot}{request.task}{dot}wants to use: ")
        tool = request.tool or request.kind
        kind = f" ({clip(request.kind, _WIDTH)})" if request.kind and request.kind != tool else ""
        head += Content(clip(tool, _WIDTH)).stylize("bold") + Content(kind)
        self.query_one("#approvals-head", Static).update(head)
        detail = request.detail or "(the agent does not say more)"
        cut = [text for text in dict.fromkeys((tool, request.kind)) if clip(text, _WIDTH) != text]
        self.query_one(DiffLines).show("\n\n".join([*cut, detail]))
        self._show_keys()
        self.call_after_refresh(self._show_keys)  # only then is it known what is in view

    @property
    def _detail(self) -> VerticalScroll:
        return self.query_one("#approvals-detail", VerticalScroll)

    def _look(self) -> int:
        """Note what is in view of the chosen request, and return how many rows come after it."""
        height = self._detail.scrollable_content_region.height
        below = self.query_one(DiffLines).rows_below(self._detail.scroll_offset.y + height)
        self._is_seen = self._is_seen or not below
        return below

    def _show_keys(self) -> None:
        if not self._requests:
            return
        self.query_one("#approvals-keys", Static).update(self._hint(f" {self._glyphs['dot']} "))

    def _list(self, place: int) -> Content:
        if len(self._requests) == 1:
            return Content("")
        first = max(0, min(place - 1, len(self._requests) - _LISTED))
        lines = []
        for request in self._requests[first : first + _LISTED]:
            mark = self._glyphs["plan"] if request is self._requests[place] else " "
            summary = clip(request.summary, _WIDTH, self._glyphs["ellipsis"])
            line = f"{mark} @{request.agent} {request.task}  {summary}"
            lines.append(Content(line).stylize("bold" if mark != " " else "$quiet"))
        return Content("\n").join([*lines, Content("")])

    def _hint(self, dot: str) -> Content:
        request, below = self._chosen, self._look()
        if self.has_class("-writing"):
            ways = (("Enter", "rejects, and tells the agent this"), (self._keys.said("back"), "not now"))
            return Content(dot).join(
                Content(key).stylize("bold $reference") + Content(f" {words}") for key, words in ways
            )
        obstacle = ""
        if not request.is_whole:
            obstacle = "too large to be shown: it can only be rejected"
        elif not self._is_seen:
            obstacle = f"scroll to the end to allow{dot}{below:,} more line{'s' * (below != 1)}"
        once = (
            "all its runs" if request.kind == "spawn" else "once"
        )  # the first answer holds for the further ones
        allowing = [("allow", f"allow {once}"), ("allow-always", "always")]
        named = [
            *(() if obstacle else allowing),
            ("reject", f"reject {once}"),
            ("reject-always", "always"),
            ("reject-with-words", "with words"),
            ("back", "later"),
        ]
        keys = [
            Content(self._keys.said(name)).stylize("bold $reference") + Content(f" {words}")
            for name, words in named
        ]
        if obstacle:
            keys.insert(0, Content(obstacle).stylize("$wait bold"))
        what = (
            "this exact tool and command" if request.kind == "execute" else "exactly this, letter by letter,"
        )
        scroll = f"{self._keys.said('scroll-up')}, {self._keys.said('scroll-down')} scroll."
        meaning = f"Always: {what} of @{request.agent}, until this session ends. {scroll}"
        return Content(dot).join(keys) + Content(f"\n{meaning}").stylize("$quiet")

    # Keys

    def on_key(self, event: events.Key) -> None:  # noqa: ARG002  any key at all
        now = self._clock()
        self._is_calm = now - self._stirred >= QUIET
        self._stirred = now

    def action_allow(self) -> None:
        """Let the agent do it this time."""
        self._decide(Verdict.ALLOW)

    def action_allow_always(self) -> None:
        """Let the agent do exactly this, now and later."""
        self._decide(Verdict.ALLOW, always=True)

    def action_reject(self) -> None:
        """Do not let the agent do it this time."""
        self._decide(Verdict.REJECT)

    def action_reject_always(self) -> None:
        """Never let the agent do exactly this."""
        self._decide(Verdict.REJECT, always=True)

    def action_reject_with_words(self) -> None:
        """Let the person write what the agent is told with a rejection."""
        if self._is_calm and self._requests:
            self.add_class("-writing")
            self._words.focus()
            self._show_keys()

    def on_input_submitted(self) -> None:
        """Reject with the words, unless there are none yet."""
        if (words := self._words.value.strip()) and self._requests:
            self._answer(self._chosen, Verdict.REJECT, False, words)
            self._stop_writing()

    @property
    def _words(self) -> Input:
        return self.query_one("#approvals-words", Input)

    def _stop_writing(self) -> None:
        if self.has_class("-writing"):
            self.remove_class("-writing")
            self._words.clear()
            self.set_focus(None)
            self._is_calm = False
            self._stirred = self._clock()
            self._show_keys()

    def _decide(self, verdict: Verdict, *, always: bool = False) -> None:
        if not self._is_calm or not self._requests:
            return
        self._look()
        if verdict is Verdict.REJECT or (self._is_seen and self._chosen.is_whole):
            self._is_calm = False
            self._answer(self._chosen, verdict, always, "")

    def action_step(self, by: int) -> None:
        """Go to the next request, or the one before."""
        if self._requests and not self.has_class("-writing"):
            place = self._requests.index(self._chosen)
            self._choose(self._requests[(place + by) % len(self._requests)])

    def action_scroll_detail(self, direction: int) -> None:
        """Scroll what the agent wants to do."""
        (self._detail.scroll_page_down if direction > 0 else self._detail.scroll_page_up)(animate=False)

    def action_close(self) -> None:
        """Go back, from writing to the request; whoever asks waits on."""
        if self.has_class("-writing"):
            self._stop_writing()
        elif not self._is_closed:
            self._is_closed = True
            self.dismiss()
