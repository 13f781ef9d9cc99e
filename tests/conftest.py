"""For all tests: what has to be set before torch is imported."""

from __future__ import annotations

import os

# Tests run two at a time on two cores. Threads that spin at every barrier would make a step several times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
