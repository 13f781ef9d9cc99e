import math
import torch


class NovoGrad(torch.optim.Optimizer):
    """NovoGrad (arXiv 1905.11286) as apex.optimizers.FusedNovoGrad had it."""

    def __init__(self, params, lr=1e-3):
        defaults = dict(lr=lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            share = 1 - beta1
            group["step"] = group.get("step", 0) + 1
            for p in group["params"]:
                if p.grad is None:
                    continue
                state, grad = self.state[p], p.grad.float()
                norm = grad.norm()
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                    state["grad_norm"] = norm
                old = state["grad_norm"]
                norm = (beta2 * old**2 + (1 - beta2) * norm**2).sqrt()
                state["grad_norm"] = norm
                norm = norm / (1 - beta2 ** group["step"]) ** 0.5
                denominator = norm + group["eps"]
                state["exp_avg"].mul_(beta1).add_(grad, alpha=share)
                update = state["exp_avg"]
                update = update / (1 - beta1 ** group["step"])
                update = (update / denominator).add(p, alpha=group["weight_decay"])
                p.sub_(update, alpha=group["lr"])
        return loss


def scale(params, lr):
    return NovoGrad(params, lr=lr)


from torch import nn
