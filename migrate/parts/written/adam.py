"""Adam with Apex's options. Source: csrc/multi_tensor_adam.cu and apex/optimizers/fused_adam.py at tag 25.05."""

import torch


class ApexAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam had it."""

    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-8,
        adam_w_mode=True,
        weight_decay=0.0,
        amsgrad=False,
        set_grad_none=True,
        max_grad_norm=0.0,
    ):
        defaults = dict(
            lr=lr,
            bias_correction=bias_correction,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            max_grad_norm=max_grad_norm,
        )
        super().__init__(params, defaults)
        self.adam_w_mode = adam_w_mode

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            group["step"] = group.get("step", 0) + 1
            params = [p for p in group["params"] if p.grad is not None]
            if group["max_grad_norm"] > 0 and params:  # the norm of this group alone
                norm = torch.stack([p.grad.norm() for p in params]).norm()
                clip = ((norm + 1e-6) / group["max_grad_norm"]).clamp(min=1.0)
            for p in params:
                kind = torch.promote_types(p.dtype, torch.float32)
                state, grad, weight = self.state[p], p.grad.to(kind), p.to(kind)
                if group["max_grad_norm"] > 0:
                    grad = grad / clip
                if not state:
                    state["exp_avg"] = torch.zeros_like(p, dtype=kind)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=kind)
                if not self.adam_w_mode:
                    grad = grad.add(weight, alpha=group["weight_decay"])
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.mul_(beta1).add_(grad, alpha=1 - beta1)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                if group["bias_correction"]:
                    mean = mean / (1 - beta1 ** group["step"])
                    square = square / (1 - beta2 ** group["step"])
                update = mean / (square.sqrt() + group["eps"])
                if self.adam_w_mode:
                    update = update.add(weight, alpha=group["weight_decay"])
                p.copy_(weight.sub(update, alpha=group["lr"]))
        return loss
