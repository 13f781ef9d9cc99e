"""A fault of apex2native itself.

The analysis of this file ended in an error that no rule foresees. The file was left alone, all
others were handled, and the exit code is 2. The finding ends in the error and the place in
apex2native where it arose: please report both, with the line of code if you can share it.
"""

from __future__ import annotations

from .common import Stage

ID = "APX000"
STAGE = Stage.TOOL
BEFORE = ""
AFTER = ""
