"""How long to wait for a server that asks for it, in either of the ways it may ask."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from teambot_tui.agents.backends.chat_api import TransientError, retry_after


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("-1", None),
        ("soon", None),
        ("1.5", None),
        ("²", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_a_header_is_a_number_of_seconds_or_a_date(header: str, seconds: float | None) -> None:
    assert retry_after(header) == seconds


def test_a_date_to_come() -> None:
    wait = retry_after(formatdate(time.time() + 3600, usegmt=True))
    assert wait is not None
    assert 3000 < wait <= 3600


def test_a_number_that_nobody_means() -> None:
    wait = retry_after("9" * 10_000)
    assert wait is not None
    assert TransientError("busy", wait).wait(0) is None


@pytest.mark.parametrize(("after", "wait"), [(0.0, 0.0), (60.0, 60.0), (61.0, None)])
def test_what_a_server_asks_for_is_done_up_to_a_limit(after: float, wait: float | None) -> None:
    assert TransientError("busy", after).wait(5) == wait


@pytest.mark.parametrize(("attempt", "longest"), [(0, 0.5), (1, 1.0), (2, 2.0), (6, 32.0), (9, 60.0)])
def test_without_a_word_from_the_server_each_wait_is_longer(attempt: int, longest: float) -> None:
    wait = TransientError("failed").wait(attempt)
    assert wait is not None
    assert longest / 2 <= wait <= longest
