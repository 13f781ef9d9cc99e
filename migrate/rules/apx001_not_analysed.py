"""A file that could not be analysed, so that nothing is known about the Apex code in it.

The finding says why: it is not readable, not in the encoding it declares, holds null bytes, is
larger than 5 MB, is written in Python 2 or does not parse, is no notebook of format 4 though it is
called one, or is a symbolic link that leads out of the tree (links are not followed: a run changes
nothing outside its PATHs).
The file was left alone. It is listed because skipping it in silence could leave a training script
half migrated without anyone knowing.
The program that such a file belongs to is looked at without it: what it takes from the others has
unknown callers, and where it uses amp they stay if they may run in one process with it.
A file without Apex that a program imports and Python cannot read is named as well (info).
"""

from __future__ import annotations

from .common import Stage

ID = "APX001"
STAGE = Stage.TOOL
BEFORE = ""
AFTER = ""
