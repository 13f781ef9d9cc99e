"""What is found in a file beside the code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .texts import Cut

FOUND, FIXED = "APX190", "APX191"  # ids of the rules


class About(Enum):
    """What a mention of Apex does, in the order in which a report names them."""

    REQUIRES = "Apex is listed among what is installed"
    INSTALLS = "this gets or installs Apex"
    OPTION = "these set options that are Apex's"
    SPEAKS = "this speaks of Apex"


@dataclass(frozen=True)
class Mention:
    """One mention of Apex.

    ``sure`` is what can mean NVIDIA's Apex alone, whatever the code says; ``cut`` what has to go to be rid of it,
    where that is known; ``option`` the name of an option that counts only where the code has one of that name."""

    about: About
    line: int
    end_line: int
    sure: bool
    cut: Cut | None = None
    option: str = ""
    needs: bool = False  # Apex itself, at run time
