"""What the analysis of a program took goes back behind it, however many there are."""

from __future__ import annotations

import weakref

from migrate.memory import give_back, seldom_collected

MANY = 1_100_000  # objects


class Held:
    """Something that holds itself and much else."""

    def __init__(self) -> None:
        self.itself, self.more = self, [object() for _ in range(MANY)]


def test_each_program_is_given_back() -> None:
    """Also one that lies where another one lay, so that the process takes no more of the machine than before."""
    with seldom_collected():
        for _ in range(2):
            held = weakref.ref(Held())
            give_back()
            assert held() is None
