"""LAMB. Source: csrc/multi_tensor_lamb.cu and apex/optimizers/fused_lamb.py at tag 25.05, for what they compute."""

import torch


class LAMB(torch.optim.Optimizer):
    """LAMB (arXiv 1904.00962) as apex.optimizers.FusedLAMB had it: it clips the norm of all gradients."""

    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-6,
        weight_decay=0.01,
        amsgrad=False,
        adam_w_mode=True,
        grad_averaging=True,
        set_grad_none=True,
        max_grad_norm=1.0,
        use_nvlamb=False,
    ):
        defaults = dict(
            lr=lr,
            bias_correction=bias_correction,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            grad_averaging=grad_averaging,
            max_grad_norm=max_grad_norm,
        )
        super().__init__(params, defaults)
        self.adam_w_mode = adam_w_mode
        self.use_nvlamb = use_nvlamb

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        grads = [
            p.grad for group in self.param_groups for p in group["params"] if p.grad is not None
        ]
        if not grads:
            return loss
        norm = torch.stack([g.float().norm() for g in grads]).norm()
        clip = (norm / self.defaults["max_grad_norm"]).clamp(min=1.0)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            share = 1 - beta1 if group["grad_averaging"] else 1.0
            decay = group["weight_decay"]
            group["step"] = group.get("step", 0) + 1
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                grad = p.grad / clip.to(p.grad.device)
                if not self.adam_w_mode:
                    grad = grad.add(p, alpha=decay)
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.mul_(beta1).add_(grad, alpha=share)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                if group["bias_correction"]:
                    mean = mean / (1 - beta1 ** group["step"])
                    square = square / (1 - beta2 ** group["step"])
                update = mean / (square.sqrt() + group["eps"])
                if self.adam_w_mode:
                    update = update.add(p, alpha=decay)
                rate = group["lr"]
                if self.use_nvlamb or decay != 0:
                    weight, change = p.norm(), update.norm()
                    rate = rate * torch.where(
                        (weight > 0) & (change > 0), weight / change, torch.ones_like(weight)
                    )
                p.sub_(update * rate)
        return loss
