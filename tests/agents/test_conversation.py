"""What an agent remembers is made of whole turns and never outgrows its context."""

from __future__ import annotations

import re

import pytest

from teambot_tui.agents.backends.conversation import Conversation

TOKENS = 40
BYTES = 90  # three for each token, and a quarter left for the answer


def turn(conversation: Conversation, prompt: str, *pieces: str) -> None:
    answer = conversation.new_answer()
    for piece in pieces:
        answer.append(piece)
    conversation.remember(prompt, answer)


def prompts(conversation: Conversation, system: str = "", prompt: str = "") -> list[str]:
    messages = conversation.messages(system, prompt)
    roles = "".join(message["role"][0] for message in messages)
    assert re.fullmatch("s?(ua)*u", roles)
    return [message["content"] for message in messages if message["role"] == "user"][:-1]


def test_the_first_message_has_no_past() -> None:
    assert Conversation(TOKENS).messages("You plan.", "go") == [
        {"role": "system", "content": "You plan."},
        {"role": "user", "content": "go"},
    ]
    assert Conversation(TOKENS).messages("", "go") == [{"role": "user", "content": "go"}]


def test_the_oldest_turns_go_first_and_go_whole() -> None:
    conversation = Conversation(TOKENS)
    for letter in "abcdef":
        turn(conversation, letter, "x" * 10, "y" * 9)
    assert prompts(conversation) == ["c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("system", "prompt", "kept"),
    [
        ("", "", ["a", "b", "c", "d"]),
        ("s" * 10, "", ["a", "b", "c", "d"]),
        ("s" * 11, "", ["b", "c", "d"]),
        ("s" * 20, "p" * 30, ["c", "d"]),
        ("", "p" * 70, ["d"]),
        ("", "é" * 36, []),
        ("s" * 1000, "p" * 1000, []),
    ],
)
def test_what_is_sent_now_leaves_less_room_for_the_past(system: str, prompt: str, kept: list[str]) -> None:
    conversation = Conversation(TOKENS)
    for letter in "abcd":
        turn(conversation, letter, "x" * 19)
    assert prompts(conversation, system, prompt) == kept
    assert prompts(conversation) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("answer", [["x" * BYTES], ["x" * (BYTES + 1)], ["x"] * 1000])
def test_a_turn_that_never_fits_is_not_kept(answer: list[str]) -> None:
    conversation = Conversation(TOKENS)
    turn(conversation, "earlier", "x")
    turn(conversation, "a", *answer)
    assert prompts(conversation) == ["earlier"]
