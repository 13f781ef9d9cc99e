"""LARC. Source: apex/parallel/LARC.py at tag 25.05, for what it computes."""

import torch


class LARC:
    """Layer-wise adaptive rates (arXiv 1708.03888) around an optimizer, as apex.parallel had them."""

    def __init__(self, optimizer, trust_coefficient=0.02, clip=True, eps=1e-8):
        self.optim = optimizer
        self.trust_coefficient, self.clip, self.eps = trust_coefficient, clip, eps

    @property
    def param_groups(self):
        return self.optim.param_groups

    @param_groups.setter
    def param_groups(self, value):
        self.optim.param_groups = value

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

    @torch.no_grad()
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
