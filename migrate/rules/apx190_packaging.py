"""What surrounds the code still installs Apex, sets its options or speaks of it.

Requirement files, `setup.py`, `setup.cfg`, `pyproject.toml`, environments of conda, Dockerfiles, CI files, shell and
batch scripts, configurations, READMEs and `.gitmodules` are read beside the Python files. Each file gets one *info*
finding for each kind of mention, with all lines; none of them changes the exit code.

`apex` is also a word, and another package of PyPI: what could mean something else counts only in a tree whose code
imports parts of NVIDIA's Apex, or where something unmistakable stands beside it (`github.com/NVIDIA/apex`). Options
such as `--opt-level O1` count where code not far from them has an option of that name.

With `--fix-packaging` requirements that are Apex go (APX191), and so does a `RUN` of a Dockerfile that gets and
installs Apex and does nothing else. As long as a file of the run needs Apex nothing is edited, and the finding
names it.
"""

from __future__ import annotations

from .common import Stage

ID = "APX190"
STAGE = Stage.TOOL
BEFORE = ""
AFTER = ""
NOTES = {"APX191": "`--fix-packaging`: what installs Apex and nothing else goes, once no file needs Apex any more."}
