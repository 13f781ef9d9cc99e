"""Tensors: names of what makes one, and of what keeps one that it is handed. Habits, where torch has no name."""

from __future__ import annotations

from .words import Patterns

# Functions and methods whose result is always a tensor of its own.
MAKES = frozenset(
    "detach clone zeros ones empty full rand randn randint tensor from_numpy zeros_like ones_like empty_like full_like "
    "rand_like randn_like new_zeros new_ones new_empty new_full new_tensor clamp clip sign mul add sub div".split()
)
# Methods whose result may be the tensor itself; so is that of every method whose name ends with an underscore.
SAME = frozenset("to cuda cpu float half double type contiguous view reshape expand squeeze unsqueeze".split())
# Functions that keep what they are handed, beside classes.
KEEPS = Patterns(
    "append extend insert add setattr setdefault update put partial add_param_group register_* *optim* *param* make* "
    "build* create* get*"
)
# Where batches come from, and what only looks like it.
LOADERS = Patterns("*load* *batch* *data* *iterator*")
NO_LOADERS = Patterns("*param* *group* *master* *weight* *.data")
