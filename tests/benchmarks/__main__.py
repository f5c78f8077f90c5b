"""`python -m tests.benchmarks [NAME …] [--quick]`: print the figures, one table per benchmark."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from typing import TYPE_CHECKING

from tests.benchmarks import bus, clean, compose, frames, handover, parse, screen, sessions, spawn, tasks
from tests.benchmarks.measure import FULL, QUICK
from tests.benchmarks.table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.benchmarks.measure import Figure, Scale

BENCHMARKS: dict[str, Callable[[Scale], Iterator[Figure]]] = {
    "parse": parse.figures,
    "tasks": tasks.figures,
    "spawn": spawn.figures,
    "sessions": sessions.figures,
    "compose": compose.figures,
    "bus": bus.figures,
    "frames": frames.figures,
    "handover": handover.figures,
    "clean": clean.figures,
    "latency": screen.latency,
    "startup": screen.startup,
    "memory": screen.memory,
}
NOTES = {"tasks": tasks.notes, "latency": screen.latency_note}


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks; return 1 if an aim was missed."""
    options = _options(arguments)
    scale = QUICK if options.quick else FULL
    missed = 0
    print(
        f"Python {platform.python_version()}, {platform.machine()}; each cost is the best of several rounds."
    )
    for name in options.names or BENCHMARKS:
        begin = time.perf_counter()
        figures = list(BENCHMARKS[name](scale))
        print(f"\n{name} ({time.perf_counter() - begin:.0f} s)\n{table(figures)}")
        if name in NOTES and (note := NOTES[name]()):
            print(note)
        missed += sum(figure.met is False for figure in figures)
    print(f"\n{missed} missed" if missed else "\nall met")
    return int(missed > 0)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds: about a minute")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in BENCHMARKS]:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
