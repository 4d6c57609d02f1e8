"""Settings shared by all tests: one hypothesis profile without randomness, and the place of the repository."""

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("fixed")

os.environ["OSLR_QUIET"] = "1"  # no word on compiling: it would stand on the pages

TOP = Path(__file__).parents[1]
NOTEBOOKS = sorted(p for p in (TOP / "nbs").rglob("*.ipynb") if not any(s.startswith((".", "_")) for s in p.parts))


@pytest.fixture(scope="session")
def top() -> Path:
    return TOP
