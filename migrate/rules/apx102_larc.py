"""``apex.parallel.LARC`` is written out: torch has no counterpart, and it is a few lines around an optimizer.

The class stands behind the file's imports. It shows the optimizer's groups and state, but not that its kernel might
unscale gradients by itself, so that a GradScaler unscales them before this measures them.

Source: apex/parallel/LARC.py at tag 25.05; Yang You, Igor Gitman, Boris Ginsburg, arXiv 1708.03888.
"""

from __future__ import annotations

from migrate.parts.replace import Native, Stays, replace
from migrate.parts.sites import Site
from migrate.rules.common import Stage, Work
from migrate.units.unit import Context

ID = "APX102"
STAGE = Stage.PARTS
BEFORE = """\
from apex.parallel.LARC import LARC

optimizer = LARC(optimizer, trust_coefficient=0.001, clip=False)
"""
AFTER = """\
import torch


class LARC:
    ...


optimizer = LARC(optimizer, trust_coefficient=0.001, clip=False)
"""

_CLASS = '''
class LARC:
	"""Layer-wise adaptive rates (arXiv 1708.03888) around an optimizer, as apex.parallel had them."""

	def __init__(self, optimizer, trust_coefficient=0.02, clip=True, eps=1e-8):
		self.optim = optimizer
		self.trust_coefficient, self.clip, self.eps = trust_coefficient, clip, eps

	@property
	def param_groups(self):
		return self.optim.param_groups

	@property
	def state(self):
		return self.optim.state

	def zero_grad(self, *args, **kwargs):
		self.optim.zero_grad(*args, **kwargs)

	def add_param_group(self, group):
		self.optim.add_param_group(group)

	def state_dict(self):
		return self.optim.state_dict()

	def load_state_dict(self, state_dict):
		self.optim.load_state_dict(state_dict)

	@TORCH.no_grad()
	def step(self):
		decays = [group.get("weight_decay", 0) for group in self.param_groups]
		for group, decay in zip(self.param_groups, decays):
			group["weight_decay"] = 0  # it is part of the rate
			for p in group["params"]:
				if p.grad is None:
					continue
				weight, slope = p.norm(), p.grad.norm()
				if weight != 0 and slope != 0:
					rate = self.trust_coefficient * weight / (slope + weight * decay + self.eps)
					if self.clip:
						rate = min(rate / group["lr"], 1)
					p.grad.add_(p, alpha=decay).mul_(rate)
		self.optim.step()
		for group, decay in zip(self.param_groups, decays):
			group["weight_decay"] = decay
'''


def apply(ctx: Context, work: Work) -> None:
    """Replace the class by one of the file's own."""
    replace(ctx, work, ID, {"apex.parallel.LARC": _larc})


def _larc(ctx: Context, work: Work, site: Site) -> Native | Stays:
    own = [one for one in ctx.m.declared("LARC") if ctx.m.statement(one) not in ctx.facts.imports]
    if own:
        return Stays("this file has a LARC of its own beside Apex's", "call one of both, which does the same")
    lines = _CLASS.strip("\n").replace("TORCH", work.native(site.use).torch).split("\n")
    return Native(
        "LARC",
        spelled="LARC",
        alias=False,
        definition=lines,
        said="the class is written out in this file",
        review="torch has no LARC: the class that is written out here does what Apex's did, look at it once",
    )
