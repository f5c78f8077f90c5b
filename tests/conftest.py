"""What holds for every test: it reads nothing of the developer's, and made-up examples stay the same.

`pytest --hypothesis-profile=explore` looks for new ones.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

_KEPT: Final = re.compile(r"PATH|PYTHONPATH|LANG|LC_\w+|TMPDIR|VIRTUAL_ENV|PYTEST_\w+|PIP_\w+")
"""The variables of the environment that no test can be hurt by; all others are gone in every test."""


@pytest.fixture(autouse=True)
def _nothing_of_the_developers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give every test an empty home, and an environment without settings, keys and editors."""
    before = dict(os.environ)
    for name in [name for name in os.environ if not _KEPT.fullmatch(name)]:
        del os.environ[name]
    os.environ["HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    os.environ.clear()
    os.environ.update(before)
