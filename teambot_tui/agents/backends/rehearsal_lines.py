"""The phrases of the rehearsal: one voice for each agent of the default team, one for everybody else.

No phrase claims that work was done. An item is written `Name: what about it`, because the name is what the
next agent takes over. `{topic}` and `{number}` are the only gaps; a phrase in `treatments` follows a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOTICE: Final = "(rehearsal: no model is connected — set a backend to make this real)"
NOTICE_BEGINNING: Final = "(rehearsal:"
GREETING: Final = "Give me a task, and I would go along these lines:"


@dataclass(frozen=True, slots=True)
class Voice:
    """How one agent speaks: alone it lists items of its own, after others it treats theirs."""

    title: str
    role: str
    example: str
    alone: tuple[str, ...]
    after_others: tuple[str, ...]
    items: tuple[str, ...]
    treatments: tuple[str, ...]
    closings: tuple[str, ...]


VOICES: Final = {
    "pm": Voice(
        title="Plan",
        role="I plan: I cut a request into milestones that can be seen and checked.",
        example="Plan a login page",
        alone=(
            "Five milestones; each one ends in something you can see.",
            "I would get there in five steps, and could stop after any of them.",
            "Five steps. The early ones are cheap and make the later ones safe.",
        ),
        after_others=(
            "Each point becomes a milestone, under the name it came with.",
            "I keep the order and the names, so that every point can be followed.",
            "Milestones from what is there, and what I would add.",
        ),
        items=(
            "Scope: what belongs to “{topic}”, and what does not",
            "Thin slice: one path through all of it, plain but working",
            "Real data: replace what is made up, one part at a time",
            "Edge cases: nothing, too much, twice, at the same moment",
            "First users: two people try it while we keep silent",
            "Polish: find the three roughest spots and mend them",
            "Release: ship it small, and with a way back",
        ),
        treatments=(
            "done when it can be shown",
            "one owner, two days at most",
            "agree on it with its users first",
            "start small and keep a way back",
            "split it if it outgrows two days",
            "can run beside the others",
        ),
        closings=(
            "The risk: the first milestone takes longer than all the others.",
            "If time runs short, drop the last milestone and keep the tests.",
            "Open question: who says that it is good enough?",
        ),
    ),
    "ba": Voice(
        title="Requirements",
        role="I analyse: I turn a request into requirements that a stranger can check.",
        example="Analyse a login page",
        alone=(
            "Five requirements, each with the moment at which it counts as met.",
            "What it has to do, written so that the answer is only yes or no.",
            "I start from the person who needs it; the rest follows from there.",
        ),
        after_others=(
            "I add to each point when it counts as met.",
            "Each point becomes a requirement that a stranger can check.",
            "The same points as promises, each with its acceptance criterion.",
        ),
        items=(
            "Need: one person can say why “{topic}” matters",
            "Happy path: accepted when it works without a manual",
            "Wrong input: accepted when the message says what to do next",
            "Empty state: accepted when having no data looks intended",
            "Speed: accepted when an answer takes less than a second",
            "Undo: accepted when one step back loses nothing",
            "Privacy: accepted when nothing leaves without consent",
        ),
        treatments=(
            "accepted when a stranger can check it",
            "accepted when two people agree on it",
            "accepted when one test proves it",
            "accepted when you would rely on it",
            "accepted when no manual is needed",
            "accepted when its errors help",
        ),
        closings=(
            "Out of scope until somebody asks for it: whatever is not listed.",
            "Open question: which of these would you give up last?",
            "To be confirmed by you: number 1. The others lean on it.",
        ),
    ),
    "builder-1": Voice(
        title="Direct build",
        role="I build the direct way: the smallest complete change that does it.",
        example="Build a login page",
        alone=(
            "The direct way: the smallest complete change, in steps that each run.",
            "No step leaves anything broken overnight.",
            "First the data, then the rules, and only then the surface.",
        ),
        after_others=(
            "I take the points one by one, by the shortest way.",
            "Each point becomes one small, complete change.",
            "The names stay, so that the code can be read next to the text.",
        ),
        items=(
            "Data: what “{topic}” has to know, as plain types",
            "Reuse: look for the helper that already does half of it",
            "Rules: one pure function for each decision",
            "Storage: in memory at first, behind one small interface",
            "Wiring: join the parts in one place, and only there",
            "Errors: caught only where they can be explained",
            "Cleanup: remove what the first version needed",
        ),
        treatments=(
            "one small change, nothing else",
            "the least code that can show it",
            "one commit, easy to take back",
            "its own module, its own test",
            "a script, so that it can be repeated",
            "in the style of what is there",
        ),
        closings=(
            "Done when: the tests pass and the change reads like the task.",
            "Not part of this: speed. First right, then measured, then fast.",
            "The first step to try: number 1, in an hour at most.",
        ),
    ),
    "builder-2": Voice(
        title="Test-first build",
        role="I build from the far end: how it can fail, then how it is used.",
        example="Build a login page",
        alone=(
            "From the far end: how it fails, how it is used, then the code.",
            "Every step begins with something that does not work yet.",
            "First what could go wrong; the code is the easy part.",
        ),
        after_others=(
            "I take the points one by one, and ask first how each can fail.",
            "Each point begins as a test that fails for the right reason.",
            "The same points from the far end: failure, interface, code.",
        ),
        items=(
            "Walkthrough: one test that uses “{topic}”",
            "Bad day: a test each for full disk, slow line, wrong key",
            "Interface: written down before anything stands behind it",
            "Fake: a stand-in for what is slow, so that tests stay quick",
            "Messages: every error says what to do next",
            "Twice: the same call again changes nothing",
            "Insides: real parts replace the fake, tests unchanged",
        ),
        treatments=(
            "a failing test, then the code",
            "first a list of how it can go wrong",
            "the interface before the insides",
            "a dry run first, then the real one",
            "with a message for when it fails",
            "safe to do a second time",
        ),
        closings=(
            "Done when: breaking any line makes a test fail.",
            "Not part of this: cleverness. A design that lasts looks plain.",
            "The first thing to write: the test for number 1.",
        ),
    ),
    "reviewer": Voice(
        title="Review",
        role="I review: I look for what will hurt later, and end with a verdict.",
        example="Review the idea of a login page",
        alone=(
            "I have no work to read yet; this is what I would look at.",
            "Nothing to read so far, so here is what I will ask.",
            "Before there is anything to review: the questions it will meet.",
        ),
        after_others=(
            "Findings in the order of the text; none of them is about taste.",
            "I read each point as the one who will have to repair it.",
            "One finding for each point, then what nobody mentioned.",
        ),
        items=(
            "Purpose: how would we measure that “{topic}” helped?",
            "Failure: what happens on the second error, not the first?",
            "Names: would a newcomer guess them right?",
            "Limits: where is it written how much is too much?",
            "Tests: which line could go without one of them failing?",
            "Secrets: could one of them end up in a log?",
            "Removal: how would we take it out again?",
        ),
        treatments=(
            "how would we notice that it broke?",
            "says what, but not yet why",
            "the unhappy path is not covered",
            "who decides when this is done?",
            "which half of it could we leave out?",
            "clear, but it needs a limit",
        ),
        closings=(
            "Verdict: good to go once number {number} is settled.",
            "Verdict: not yet. Settle number {number} and I would say yes.",
            "Verdict: open, and number {number} is what decides it.",
        ),
    ),
    "writer": Voice(
        title="Outline",
        role="I write: I make an outline first, so that readers find their way.",
        example="Outline a guide to the login page",
        alone=(
            "Five sections, in the order in which readers ask.",
            "What a reader needs in the first minute comes first.",
            "An outline; each section answers one question.",
        ),
        after_others=(
            "Each point becomes a section; its name becomes the heading.",
            "The same points, told to somebody who was not there.",
            "I keep the names, so that text and work can be compared.",
        ),
        items=(
            "Why: who will read about “{topic}”, and what for",
            "Quick start: three lines to copy, and what they show",
            "First steps: one small example, followed to its end",
            "Recipes: one short answer for each everyday question",
            "When it fails: the messages, and what to do about them",
            "Reference: every option, its default and an example",
            "Changes: what is new, told to the person at the keyboard",
        ),
        treatments=(
            "a section with one example",
            "two sentences and a picture",
            "a recipe to copy and change",
            "one question and its answer",
            "told by what goes wrong without it",
            "one paragraph, no jargon",
        ),
        closings=(
            "Length: what fits on two screens. The rest goes to the reference.",
            "To be checked: every example is run before it is printed.",
            "The first sentence is written last, when the rest is known.",
        ),
    ),
}

ANYBODY: Final = Voice(
    title="Notes",
    role="",
    example="Look at a login page",
    alone=(
        "This is how I would go about it.",
        "Five steps, each small enough to check.",
        "In this order, and no further than the first surprise.",
    ),
    after_others=(
        "I go through the points one by one, then add my own.",
        "Each point gets an answer, under the name it came with.",
        "I start from what is there and keep its names.",
    ),
    items=(
        "Aim: one sentence on what “{topic}” is for",
        "Look around: read what is there before adding to it",
        "Choose: two ways to do it, and the reason for one",
        "Try: the smallest piece that could prove it wrong",
        "Check: let somebody use it who did not make it",
        "Write down: what was decided, and what was not",
        "Hand on: what is finished, what is open, who is next",
    ),
    treatments=(
        "worth doing first on a small scale",
        "agreed, if it can be checked",
        "needs one example to be clear",
        "depends on who will use it",
        "simple enough to try today",
        "needs a reason beside it",
    ),
    closings=(
        "The next step: number 1, and then another look at the rest.",
        "What could change all this: one real example.",
        "Open question: what happens if nobody does it?",
    ),
)

TITLES: Final = frozenset(voice.title for voice in (*VOICES.values(), ANYBODY))
