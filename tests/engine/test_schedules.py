"""Four thousand made-up sessions: the rules and a much simpler model of them never disagree.

A failure names its seed and its steps; `python -m tests.engine.driver SEED` runs that one again.
"""

from __future__ import annotations

from random import Random

import pytest

from teambot_tui.engine.rules import Rules
from tests.engine.bench import snapshot
from tests.engine.driver import make_world, run_schedule, take_step

SCHEDULES = 4_000
AT_A_TIME = 500


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=[pytest.mark.thorough] if first >= 2 * AT_A_TIME else [])
        for first in range(0, SCHEDULES, AT_A_TIME)
    ],
)
def test_rules_and_model_agree(first: int) -> None:
    for seed in range(first, first + AT_A_TIME):
        run_schedule(seed)


@pytest.mark.parametrize("seed", range(20_000, 20_010))
def test_long_sessions(seed: int) -> None:
    random = Random(seed)
    world = make_world(random)
    for _ in range(150):
        take_step(world, random)
    world.drain()


def test_a_seed_is_always_the_same_session() -> None:
    for seed in range(20):
        assert run_schedule(seed).facts == run_schedule(seed).facts


@pytest.mark.parametrize("seed", range(30_000, 30_100))
def test_replaying_what_was_published_rebuilds_the_board(seed: int) -> None:
    random = Random(seed)
    world = make_world(random)
    rebuilt = Rules(world.policy)
    for _ in range(20):
        known = len(world.facts)
        take_step(world, random)
        for fact in world.facts[known:]:
            rebuilt.handle(fact)
        assert snapshot(rebuilt.board) == snapshot(world.board)
