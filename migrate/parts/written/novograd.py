"""NovoGrad. Source: csrc/multi_tensor_novograd.cu and apex/optimizers/fused_novograd.py at tag 25.05."""

import torch


class NovoGrad(torch.optim.Optimizer):
    """NovoGrad (arXiv 1905.11286) as apex.optimizers.FusedNovoGrad had it."""

    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        amsgrad=False,
        reg_inside_moment=False,
        grad_averaging=True,
        norm_type=2,
        init_zero=False,
        set_grad_none=True,
    ):
        defaults = dict(
            lr=lr,
            bias_correction=bias_correction,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            grad_averaging=grad_averaging,
            norm_type=norm_type,
            init_zero=init_zero,
        )
        super().__init__(params, defaults)
        self.reg_inside_moment = reg_inside_moment

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            share = 1 - beta1 if group["grad_averaging"] else 1.0
            group["step"] = group.get("step", 0) + 1
            for p in group["params"]:
                if p.grad is None:
                    continue
                state, grad = self.state[p], p.grad.float()
                norm = grad.abs().max() if group["norm_type"] == 0 else grad.norm()
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                    state["grad_norm"] = torch.zeros_like(norm) if group["init_zero"] else norm
                old = state["grad_norm"]
                if group["norm_type"] == 0:
                    norm = beta2 * old + (1 - beta2) * norm
                else:
                    norm = (beta2 * old**2 + (1 - beta2) * norm**2).sqrt()
                state["grad_norm"] = norm
                if group["bias_correction"]:
                    norm = norm / (1 - beta2 ** group["step"]) ** 0.5
                denominator = norm + group["eps"]
                if self.reg_inside_moment:
                    grad = (grad / denominator).add(p, alpha=group["weight_decay"])
                state["exp_avg"].mul_(beta1).add_(grad, alpha=share)
                update = state["exp_avg"]
                if group["bias_correction"]:
                    update = update / (1 - beta1 ** group["step"])
                if not self.reg_inside_moment:
                    update = (update / denominator).add(p, alpha=group["weight_decay"])
                p.sub_(update, alpha=group["lr"])
        return loss
