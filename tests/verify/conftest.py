from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verify.play import Player


@pytest.fixture(scope="session")
def player() -> Iterator[Player]:
    one = Player()
    yield one
    one.close()
