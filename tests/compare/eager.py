"""A double of `torch._dynamo`, for tasks of the tests that compile nothing and have a process each.

torch imports all of dynamo where the first optimizer is made, a second of the two and more that such a task takes, to
tell it what not to compile. Tasks of several processes (DDP asks dynamo for more) and all with the networks of the
comparison itself run with the real one. That a process trains with the double as the tests' own does with the real
one: `test_tasks.py`, where one goes on with what another left.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace


def leave_dynamo_out() -> None:
    """In the process of a task that has one alone; in that of the tests others need the real one."""
    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    if alone and "pytest" not in sys.modules and "torch._dynamo" not in sys.modules:
        double = SimpleNamespace(disable=lambda function, *_, **__: function, graph_break=lambda: None)
        sys.modules["torch._dynamo"] = double  # type: ignore[assignment]
