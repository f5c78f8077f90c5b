"""The rehearsal: the same every time, open about what it is, built on every output it is given, and paced."""

from __future__ import annotations

import asyncio
import os
import re
import selectors
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from unicodedata import east_asian_width

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teambot_tui.agents.backends.rehearsal import Rehearsal
from teambot_tui.agents.backends.rehearsal_lines import ANYBODY, NOTICE, VOICES
from teambot_tui.engine.ids import AgentId, TaskId
from teambot_tui.engine.ports import Backend, Given, Request

if TYPE_CHECKING:
    from collections.abc import Coroutine

ROOT = Path(__file__).parents[2]
TEAM = ("pm", "ba", "builder-1", "builder-2", "reviewer", "writer")
HOSTILE = (
    "[/x]",
    "list[str]",
    "[@click=app.quit]go[/]",
    "\x1b]0;t\x07",
    "{topic} {number} {} {0}",
    "%s %(x)s",
    "$pm -> @ba &",
    "日本語" * 50,
    "e\u0301" * 500,
    "\ud800",
    "\u202eabc",
    "---",
    "#",
    "- ",
    "1. ",
    "```",
    "",
    " \n\t\n ",
    "(rehearsal: no",
)

Result = TypeVar("Result")


def request(agent: str, instruction: str, *given_pairs: tuple[str, str], system: str = "") -> Request:
    outputs = "".join(f"=== Output from @{name} ===\n{text}\n\n" for name, text in given_pairs)
    return Request(
        task=TaskId(f"{agent}#1"),
        agent=AgentId(agent),
        prompt=outputs + instruction,
        system=system,
        model=None,
        directory=Path(),
        instruction=instruction,
        given=tuple(Given(AgentId(name), text) for name, text in given_pairs),
    )


def answer(
    agent: str, instruction: str, *given_pairs: tuple[str, str], system: str = "", seed: int = 0
) -> str:
    asked = request(agent, instruction, *given_pairs, system=system)

    async def collect() -> list[str]:
        return [update.text async for update in Rehearsal(seed=seed, words_per_second=0).run(asked)]

    pieces = asyncio.run(collect())
    assert len(pieces) == 1
    return pieces[0]


def columns(text: str) -> int:
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)


def items(text: str) -> list[str]:
    return re.findall(r"^\d+\. (.+)$", text, re.MULTILINE)


class TestItsWords:
    def test_it_says_that_it_rehearses_in_one_short_line(self) -> None:
        for agent in (*TEAM, "stranger"):
            lines = answer(agent, "Plan a login page").splitlines()
            assert lines[-1] == NOTICE
            assert sum("rehears" in line for line in lines) == 1

    def test_every_agent_speaks_in_its_own_voice(self) -> None:
        answers = [answer(agent, "Plan a login page") for agent in (*TEAM, "stranger")]
        assert all("a login page" in text.splitlines()[0] for text in answers)
        names = [frozenset(item.partition(":")[0] for item in items(text)) for text in answers]
        assert len(set(names)) == len(names)
        assert "Verdict: " in answers[TEAM.index("reviewer")]
        assert "accepted when" in answers[TEAM.index("ba")]

    def test_an_unknown_agent_takes_its_role_from_its_persona(self) -> None:
        expert = answer(
            "scanner", "Scan it", system="# Scanner\n\nYou are a security\nexpert. Focus on OWASP."
        )
        assert "I speak as a security expert." in expert.splitlines()
        fixer = answer("fixer", "Fix it", system="Fix security issues! Keep the rest.")
        assert "My brief: Fix security issues." in fixer.splitlines()

    @pytest.mark.parametrize(
        ("instruction", "topic"),
        [
            ("Plan a login page", "a login page"),
            ("please write the docs for the CSV export.", "the CSV export"),
            ("\n\n  Fix   the parser\nand more\n", "Fix the parser"),
            ("```python\nspam()\n```", "spam()"),
            ("Plan-B migration", "Plan-B migration"),
            ("Create a plan", "your project"),
            ("", "your project"),
            ("🚀", "🚀"),
        ],
    )
    def test_the_topic_is_what_the_person_asked_about(self, instruction: str, topic: str) -> None:
        assert answer("pm", instruction).splitlines()[0] == f"## Plan: {topic}"

    def test_a_long_topic_is_shortened_at_a_word(self) -> None:
        topic = answer("pm", "word " * 9999).splitlines()[0].removeprefix("## Plan: ")
        assert columns(topic) <= 60
        assert topic.endswith("word…")

    @pytest.mark.parametrize("greeting", ["Introduce yourself", "hi team!", "Who are you?"])
    def test_it_introduces_itself_when_greeted(self, greeting: str) -> None:
        for agent, voice in VOICES.items():
            text = answer(agent, greeting)
            assert text.startswith(f"## Hello from @{agent}\n\n{voice.role}\n")
            assert f"`@{agent} {voice.example}`" in text
        assert "I speak as a poet." in answer("poet", greeting, system="You are a poet.")


class TestTheFlow:
    def test_a_pipeline_carries_topic_and_items_to_its_end(self) -> None:
        plan = answer("pm", "Plan a login page")
        build = answer("builder-1", "Build it", ("pm", plan))
        review = answer("reviewer", "Review it", ("builder-1", build))
        assert f"From @pm ({len(items(plan))} items): “1. " in build
        assert f"From @builder-1 ({len(items(build))} items): “{build.splitlines()[5]}”" in review
        names = [item.partition(":")[0] for item in items(plan)]
        for later in (build, review):
            assert later.splitlines()[0].endswith(": a login page")
            assert [item.partition(":")[0] for item in items(later)][: len(names)] == names
            assert later.count(NOTICE) == 1

    @pytest.mark.parametrize(
        ("instruction", "topic"),
        [
            ("", "a login page"),
            ("Implement @pm", "a login page"),
            ("Implement @pm in Rust", "a login page in Rust"),
            ("Write the docs from @pm, @ba and @writer", "a login page"),
            ("Build the API", "the API"),
        ],
    )
    def test_a_task_that_points_back_keeps_the_earlier_topic(self, instruction: str, topic: str) -> None:
        text = answer("writer", instruction, ("pm", answer("pm", "Plan a login page")))
        assert text.splitlines()[0] == f"## Outline: {topic}"

    @pytest.mark.parametrize("agent", [*TEAM, "stranger"])
    def test_it_builds_on_every_output(self, agent: str) -> None:
        outputs = [(f"agent-{n}", f"# Head\n\nIntro\n\n- [ ] **Part{n}**: x\n- More{n}\n") for n in range(30)]
        text = answer(agent, "Join them", *outputs)
        for n in range(30):
            assert f"From @agent-{n} (2 items): “- [ ] Part{n}: x”" in text
        assert items(text)[0].startswith("Part0 (@agent-0): ")

    def test_many_outputs_each_have_an_item_before_one_has_two(self) -> None:
        text = answer("pm", "", ("ba", "- a\n- b\n- c"), ("writer", "- d\n- e"))
        assert [item.partition(":")[0] for item in items(text)][:5] == [
            "a (@ba)",
            "d (@writer)",
            "b (@ba)",
            "e (@writer)",
            "c (@ba)",
        ]

    def test_what_several_name_alike_is_treated_once(self) -> None:
        text = answer("pm", "", ("builder-1", "1. Scope: x"), ("builder-2", "1. Scope: y\n2. Cost (@ba): z"))
        assert [item.partition(":")[0] for item in items(text)][:2] == [
            "Scope (@builder-1, @builder-2)",
            "Cost (@builder-2)",
        ]
        many = answer("pm", "", *((agent, "1. Scope") for agent in TEAM))
        assert items(many)[0].startswith("Scope (@pm and 5 more): ")

    def test_its_own_items_repeat_no_name_that_was_handed_over(self) -> None:
        taken = "".join(f"1. {item}\n" for item in VOICES["pm"].items[1:6])
        names = [item.partition(":")[0] for item in items(answer("pm", "", ("ba", taken)))]
        assert len(set(names)) == len(names) == 6

    @pytest.mark.parametrize(
        ("output", "line"),
        [
            ("We take OAuth.\nPasskeys later.", "From @ba (2 lines): “We take OAuth.”"),
            ("# Only a heading", "From @ba (1 line): “# Only a heading”"),
            ("Sure!\n\n1) Form\n2) Mail", "From @ba (2 items): “1) Form”"),
            ("say “hi”", "From @ba (1 line): “say ‘hi’”"),
            ("🚀", "From @ba (1 line): “🚀”"),
            ("---\n\nDone", "From @ba (2 lines): “Done”"),
            (f"{NOTICE}\nDone", "From @ba (1 line): “Done”"),
        ],
    )
    def test_it_quotes_the_first_line_that_says_something(self, output: str, line: str) -> None:
        assert line in answer("pm", "Go on", ("ba", output)).splitlines()

    @pytest.mark.parametrize("output", ["", " \n\n", NOTICE])
    def test_an_empty_output_is_named_too(self, output: str) -> None:
        text = answer("reviewer", "Review it", ("pm", output))
        assert "From @pm (empty): " in text
        assert text.splitlines()[3] in VOICES["reviewer"].alone

    def test_a_large_output_is_counted_to_its_end(self) -> None:
        output = "".join(f"{number}. Step\n" for number in range(1, 20_001))
        assert "From @ba (20000 items): “1. Step”" in answer("pm", "", ("ba", output))


class TestTheSameEveryTime:
    def test_in_every_process(self) -> None:
        script = (
            "import sys; from tests.agents.test_rehearsal import answer;"
            "sys.stdout.buffer.write(answer('builder-2', 'Build ü', ('pm', '1. One'), seed=7).encode())"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", script],
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
                check=True,
                capture_output=True,
                timeout=60,
            ).stdout.decode()
            for hash_seed in ("1", "2")
        }
        assert outputs == {answer("builder-2", "Build ü", ("pm", "1. One"), seed=7)}

    def test_but_another_seed_or_prompt_has_other_words(self) -> None:
        for agent in (*TEAM, "stranger"):
            assert len({answer(agent, "Plan a login page", seed=seed) for seed in range(8)}) >= 7
            topics = {answer(agent, f"Plan {n}").replace(str(n), "") for n in ("A", "B", "C", "D", "E")}
            assert len(topics) >= 3


class TestItsSize:
    text = st.one_of(
        st.text(max_size=400), st.sampled_from(HOSTILE), st.sampled_from(HOSTILE).map(lambda t: t * 99)
    )

    @settings(max_examples=300, deadline=None)
    @given(
        agent=st.sampled_from([*TEAM, "stranger", "a" * 90]),
        instruction=text,
        outputs=st.lists(st.tuples(st.sampled_from([*TEAM, "security-scanner", "b" * 90]), text), max_size=8),
        system=text,
        seed=st.integers(),
    )
    def test_is_bounded_whatever_comes(
        self, agent: str, instruction: str, outputs: list[tuple[str, str]], system: str, seed: int
    ) -> None:
        text = answer(agent, instruction, *outputs, system=system, seed=seed)
        lines = text.split("\n")
        assert 8 <= len(lines) <= 15 + len(outputs)
        assert all(columns(line) < 80 for line in lines)
        assert len(text.splitlines()) == len(lines)
        assert [line for line in lines if line != line.strip()] == []
        assert sum(line.startswith("From @") for line in lines) == len(outputs)
        assert len(items(text)) in {5, 6}
        assert lines[-1] == NOTICE
        text.encode()

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_a_huge_input_is_no_more_than_a_few_lines(self, hostile: str) -> None:
        huge = hostile * (100 * 1024 // max(len(hostile), 1))
        text = answer("stranger", huge, ("pm", huge), ("ba", huge), system=huge)
        assert len(text) < 20 * 80

    @pytest.mark.parametrize("agent", TEAM)
    def test_an_answer_to_the_whole_team_is_at_most_twenty_lines(self, agent: str) -> None:
        text = answer(agent, "Join", *((other, answer(other, "Plan a login page")) for other in TEAM))
        assert len(text.splitlines()) <= 20

    def test_every_phrase_fits_wherever_it_is_drawn(self) -> None:
        for voice in (*VOICES.values(), ANYBODY):
            assert all(len(phrase) < 80 for phrase in (*voice.alone, *voice.after_others, *voice.closings))
            assert all(len(item.format(topic="x" * 26)) <= 76 for item in voice.items)
            assert all(len(treatment) <= 37 for treatment in voice.treatments)
            assert len(voice.items) >= 7
            assert len(voice.treatments) >= 5


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer instead of waiting for it."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Jump(self))

    def time(self) -> float:
        return self.now


class _Jump(selectors.DefaultSelector):
    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing left to wait for"
            self._loop.now += max(timeout, 0)
        return ready


def run_jumping(work: Coroutine[object, object, Result]) -> Result:
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(work)


def passed() -> float:
    return asyncio.get_running_loop().time() - 1000


def advance(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, JumpingLoop)
    loop.now += seconds


class TestItsPace:
    asked = request("pm", "Plan a login page")

    def test_the_words_joined_are_the_whole_answer(self) -> None:
        async def collect() -> list[tuple[float, str]]:
            return [(passed(), update.text) async for update in Rehearsal(words_per_second=4).run(self.asked)]

        pieces = run_jumping(collect())
        assert "".join(text for _, text in pieces) == answer("pm", "Plan a login page")
        assert all(len(text.split()) == 1 for _, text in pieces)
        assert [moment for moment, _ in pieces] == pytest.approx([n / 4 for n in range(len(pieces))])

    def test_a_delay_is_caught_up_with(self) -> None:
        async def collect() -> list[float]:
            moments = []
            async for _ in Rehearsal(words_per_second=4).run(self.asked):
                moments.append(passed())
                if len(moments) == 2:
                    advance(1.0)
            return moments

        moments = run_jumping(collect())
        assert moments[:7] == pytest.approx([0, 0.25, 1.25, 1.25, 1.25, 1.25, 1.5])
        assert moments[-1] == pytest.approx((len(moments) - 1) / 4)

    def test_closing_between_two_words_stops_at_once(self) -> None:
        async def close() -> tuple[float, list[str]]:
            answering = Rehearsal(words_per_second=4).run(self.asked)
            first = await anext(answering)
            await answering.aclose()
            return passed(), [first.text, *[update.text async for update in answering]]

        assert run_jumping(close()) == (0, ["## "])

    def test_cancelling_before_the_next_word_stops_at_once(self) -> None:
        async def cancel() -> tuple[float, list[str]]:
            answering = Rehearsal(words_per_second=0.001).run(self.asked)
            words = [(await anext(answering)).text]

            async def read_on() -> None:
                words.append((await anext(answering)).text)

            reading = asyncio.create_task(read_on())
            await asyncio.sleep(5)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            return passed(), [*words, *[update.text async for update in answering]]

        moment, words = run_jumping(cancel())
        assert moment == pytest.approx(5)
        assert words == ["## "]

    @pytest.mark.parametrize("pace", [-1, float("nan")])
    def test_a_pace_below_zero_is_refused(self, pace: float) -> None:
        with pytest.raises(ValueError, match="words_per_second is 0 or more"):
            Rehearsal(words_per_second=pace)

    def test_it_is_a_backend(self) -> None:
        backend: Backend = Rehearsal()
        assert callable(backend.run)
