"""The child process that holds a model: it serves loopback with a key, steps back for others, ends with us.

It runs as a script of its own, with nothing of the project on its path. What it is to do comes as one line of
JSON by standard input, so that no key is an argument; it answers with one line, its address. When standard
input ends, whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

_NICENESS: Final = 10
_KEPT_PROMPTS: Final = 256  # MiB


def main() -> None:
    """Load the model, tell the address, and serve until standard input ends."""
    os.nice(_NICENESS)
    address = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the library prints is no address
    start = json.loads(sys.stdin.readline())
    import xllamacpp  # noqa: PLC0415  it may print

    try:
        server = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), start))
    except RuntimeError as error:
        sys.exit(str(error))
    address.write(f"{server.listening_address}\n")
    address.close()
    sys.stdin.read()
    os._exit(0)  # the library would wait for answers that nobody reads any more


def _parameters(parameters: Any, start: dict[str, Any]) -> Any:  # noqa: ANN401  the library has no types
    parameters.model.path = start["model"]
    parameters.n_ctx = start["context"]
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = _threads()
    parameters.cache_ram_mib = _KEPT_PROMPTS
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [start["key"]]
    parameters.cors_origins = ""
    parameters.ui = parameters.endpoint_slots = parameters.endpoint_props = False
    parameters.offline = True
    parameters.verbosity = 2
    if start["tiny"]:  # a small model left to itself repeats itself
        parameters.sampling.temp = 0.3
        parameters.sampling.top_p = 0.9
        parameters.sampling.penalty_repeat = 1.1
        parameters.n_predict = 600
    return parameters


def _threads() -> int:
    """All cores but one: with every core taken, anything else that runs slows the model to a crawl."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)


if __name__ == "__main__":
    main()
