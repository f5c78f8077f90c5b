"""The agent that comes with the package: no model and no network, so that the flow can be seen at once.

It says that it only rehearses, and its answer names, quotes and continues every output it was given. The
same seed and request give the same answer. Earlier outputs are data: of each, the items are counted and no
more than the beginning is read.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from teambot_tui.agents.backends.rehearsal_lines import (
    ANYBODY,
    GREETING,
    NOTICE,
    NOTICE_BEGINNING,
    TITLES,
    VOICES,
)
from teambot_tui.engine.ports import Text
from teambot_tui.engine.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from teambot_tui.agents.backends.rehearsal_lines import Voice
    from teambot_tui.engine.ports import Given, Request

_WIDTH = 79
_TOPIC_WIDTH = 60
_TOPIC_IN_ITEM_WIDTH = 26
_NAME_WIDTH = 34
_AGENT_WIDTH = 20
_OWN_ITEMS = 5
_CARRIED_ITEMS = 5
_READ = 4096
_INNER_QUOTES = str.maketrans("“”", "‘’")

_ITEM = re.compile(r"^[^\S\n]*+(?:[-*+]|\d{1,9}[.)])[^\S\n]++(?=\S)", re.MULTILINE)
_BOX = re.compile(r"^\[[ xX]\] ")
_OWNERS = re.compile(r" \(@[^()]*\)$")
_LINE = re.compile(rf"^(?!{re.escape(NOTICE_BEGINNING)})[^\S\n]*+\S", re.MULTILINE)
_REQUEST = re.compile(
    r"^(?:please )?(?:analy[sz]e|build|check|create|describe|design|develop|document|draft|explain|implement"
    r"|list|make|outline|plan|review|summari[sz]e|verify|write)(?: |$)"
    r"(?:(?:(?:an? |the )?(?:design|docs|documentation|outline|plan|requirements|review|spec|specification"
    r"|summary|tests) )?(?:about|for|of|on) )?",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"(?:it|them|this|that|@[a-z0-9-]+(?:,? and @[a-z0-9-]+|, @[a-z0-9-]+)*)"
    r"(?=$|,? (?:and|as|by|for|from|in|into|on|to|using|with)\b)",
    re.IGNORECASE,
)
_NO_TOPIC = re.compile(
    r"(?:(?:@[a-z0-9-]+|above|all|and|an?|answers?|changes|code|docs|documentation|draft|everything|findings"
    r"|for|from|implementation|it|of|on|outline|outputs?|plans?|requirements|results?|review|steps|summary"
    r"|tests|that|the|them|these|this|to|using|with|work)(?:[ ,.]+|$))*",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:please )?(?:(?:hello|hey|hi)(?: (?:all|everybody|everyone|team|there))?[!.]?$"
    r"|introduce yourself|what (?:can|do) you do\b|who are you\b)",
    re.IGNORECASE,
)
_ROLE = re.compile(r"(?:you are|you're|act as) (.+)", re.IGNORECASE)
_SENTENCE = re.compile(r".+?(?=[.!?:;](?:\s|$)|$)")


class Rehearsal:
    """Answers at the pace of a model; with `words_per_second=0` at once and in one piece."""

    def __init__(self, *, seed: int = 0, words_per_second: float = 20.0) -> None:
        """Raises: ValueError for a pace below zero."""
        if not words_per_second >= 0:
            raise ValueError(f"words_per_second is 0 or more, not {words_per_second}")
        self._seed = seed
        self._words_per_second = words_per_second

    async def run(self, request: Request) -> AsyncGenerator[Text, None]:
        """Yield the answer word by word, each with the blanks behind it."""
        answer = _answer(self._seed, request)
        if not self._words_per_second:
            yield Text(answer)
            return
        clock = asyncio.get_running_loop().time
        start = clock()
        for number, word in enumerate(re.findall(r"\S+\s*", answer)):
            # Every word has its own moment after the start, so a late one does not delay those behind it.
            await asyncio.sleep(start + number / self._words_per_second - clock())
            yield Text(word)


@dataclass(frozen=True, slots=True)
class _Source:
    """An earlier output at a glance."""

    agent: str
    size: str
    topic: str
    quote: str
    names: tuple[str, ...]


def _answer(seed: int, request: Request) -> str:
    random = _random(seed, request)
    voice = VOICES.get(request.agent, ANYBODY)
    sources = [_read(given) for given in request.given]
    greeted = not sources and _GREETING.match(_first_line(request.instruction)) is not None
    topic = "your project" if greeted else _topic(request.instruction, sources)
    carried = _carried(sources, voice, random)
    items = [*carried, *_own(voice, topic, carried, random)]
    heading = f"## Hello from @{request.agent}" if greeted else f"## {voice.title}: {topic}"
    opening = [_from(source) for source in sources]
    if voice is ANYBODY:
        opening += _role(request.system)
    if greeted:
        opening += [line for line in (voice.role, GREETING) if line]
        closing = [f"Try me: `@{request.agent} {voice.example}`"]
    else:
        opening.append(random.choice(voice.after_others if carried else voice.alone))
        closing = [random.choice(voice.closings).format(number=random.randint(1, len(items)))]
    if not sources:
        closing.append(f"To hand this on, write `${request.agent}` in another agent's task.")
    sections = (
        [_shorten(heading, _WIDTH)],
        opening,
        [f"{number}. {item}" for number, item in enumerate(items, 1)],
        [line for line in closing if _columns(line) <= _WIDTH],
        [NOTICE],
    )
    return "\n\n".join("\n".join(section) for section in sections if section)


def _random(seed: int, request: Request) -> Random:
    key = "\0".join((str(seed), request.agent, request.prompt))
    # Not `hash`, which differs from process to process; and a prompt may hold half a surrogate pair.
    return Random(sha256(key.encode("utf-8", "surrogatepass")).digest())  # noqa: S311  wording, no secret


def _topic(instruction: str, sources: list[_Source]) -> str:
    """What the task is about: `Build it in Rust` is about what the earlier output is about, in Rust."""
    asked = _first_line(instruction)
    earlier = next((source.topic for source in sources if source.topic), "")
    topic = _REQUEST.sub("", asked, count=1).rstrip(".,:;! ")
    if earlier and (pointer := _POINTER.match(topic)):
        rest = topic[pointer.end() :]
        topic = _shorten(earlier, _NAME_WIDTH) + rest if rest else earlier
    if _NO_TOPIC.fullmatch(topic):
        topic = earlier or "your project"
    return _shorten(topic, _TOPIC_WIDTH)


def _read(given: Given) -> _Source:
    lines = [line for line in _lines(given.text) if not line.startswith(NOTICE_BEGINNING)]
    items = [line for line in lines if _ITEM.match(line) and _name(line)]
    prose = [line for line in lines if not line.startswith("#")]
    quote = next(iter(items or prose or lines), "")
    heading = next((line.lstrip("# ") for line in lines if line.startswith("#")), _name(quote))
    title, separator, topic = heading.partition(": ")
    count, unit = sum(1 for _ in _ITEM.finditer(given.text)), "item"
    if not count:
        count, unit = sum(1 for _ in _LINE.finditer(given.text)), "line"
    return _Source(
        agent=_shorten(given.agent, _AGENT_WIDTH),
        size=f"{count} {unit}{'' if count == 1 else 's'}",
        topic=topic if separator and title in TITLES else heading,
        quote=quote.translate(_INNER_QUOTES),
        names=tuple(map(_name, items or prose[:2])),
    )


def _from(source: _Source) -> str:
    if not source.quote:
        return f"From @{source.agent} (empty): nothing came through, so I go by the task."
    beginning = f"From @{source.agent} ({source.size}): “"
    return f"{beginning}{_shorten(source.quote, _WIDTH - _columns(beginning) - 1)}”"


def _carried(sources: list[_Source], voice: Voice, random: Random) -> list[str]:
    """The items taken over: the first of every source before the second of any, equal names joined."""
    owners: dict[str, list[str]] = {}
    for names in zip_longest(*(source.names for source in sources), fillvalue=""):
        for source, name in zip(sources, names, strict=True):
            if name and source.agent not in owners.setdefault(name, []):
                owners[name].append(source.agent)
    treatments = random.sample(voice.treatments, _CARRIED_ITEMS)
    items = []
    for name, treatment in zip(owners, treatments, strict=False):
        whose = _whose(owners[name]) if len(sources) > 1 else ""
        room = _WIDTH - _columns(f"1. {whose}: {treatment}")
        items.append(f"{_shorten(name, min(room, _NAME_WIDTH))}{whose}: {treatment}")
    return items


def _whose(agents: list[str]) -> str:
    first, *others = agents
    if len(others) == 1 and len(first + others[0]) <= _AGENT_WIDTH:
        return f" (@{first}, @{others[0]})"
    return f" (@{first} and {len(others)} more)" if others else f" (@{first})"


def _own(voice: Voice, topic: str, carried: list[str], random: Random) -> list[str]:
    """Items of the agent's own: a whole list when it begins, something to add when it follows others."""
    first, *others = voice.items
    taken = {_name(item) for item in carried}
    others = [item for item in others if _name(item) not in taken]
    begun = [] if carried else [first]
    count = max(_OWN_ITEMS - len(carried) - len(begun), 1)
    places = sorted(random.sample(range(len(others)), count))
    chosen = [*begun, *(others[place] for place in places)]
    short = _shorten(topic.translate(_INNER_QUOTES), _TOPIC_IN_ITEM_WIDTH)
    return [item.format(topic=short) for item in chosen]


def _role(system: str) -> list[str]:
    """One line on who speaks, from the first sentence of the persona."""
    paragraphs = (" ".join(_lines(part)) for part in re.split(r"\n\s*\n", system.strip()[:_READ]))
    sentence = _SENTENCE.match(next((part for part in paragraphs if part and part[0] != "#"), ""))
    if sentence is None:
        return []
    role = _ROLE.match(sentence[0])
    return [_shorten(f"I speak as {role[1]}." if role else f"My brief: {sentence[0]}.", _WIDTH)]


def _lines(text: str) -> list[str]:
    """The lines at the beginning, without blanks, emphasis and, unless there is nothing else, decoration."""
    rows = printable(text.lstrip()[:_READ]).splitlines()
    lines = [" ".join(row.replace("**", "").split()) for row in rows]
    telling = [line.replace("`", "") for line in lines if not line.startswith("```")]
    return [line for line in telling if any(map(str.isalnum, line))] or [line for line in lines if line]


def _first_line(text: str) -> str:
    return next(iter(_lines(text)), "")


def _name(line: str) -> str:
    """What an item is called: the words before its colon, or all of it."""
    text = _BOX.sub("", _ITEM.sub("", line, count=1))
    name = _OWNERS.sub("", text.partition(": ")[0])
    return (name if len(name) <= _NAME_WIDTH else text).rstrip(".:;, ")


def _shorten(text: str, width: int) -> str:
    if _columns(text) <= width:
        return text
    kept, used = 0, 1
    while used + _columns(text[kept]) <= width:
        used += _columns(text[kept])
        kept += 1
    head = text[:kept]
    at_word = head.rpartition(" ")[0]
    return f"{(at_word if 2 * len(at_word) > kept else head).rstrip(' .,:;')}…"


def _columns(text: str) -> int:
    """How wide a terminal shows it, at most; a mark on a letter counts too, which also bounds the length."""
    return sum(2 if east_asian_width(character) in "FW" else 1 for character in text)
