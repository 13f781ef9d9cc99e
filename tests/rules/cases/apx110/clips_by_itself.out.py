import torch


class ClippingAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam was before 2019."""

    def __init__(self, params, lr=1e-3, max_grad_norm=0.0):
        defaults = dict(
            lr=lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, max_grad_norm=max_grad_norm
        )
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            eps, decay = group["eps"], group["weight_decay"]
            params = [p for p in group["params"] if p.grad is not None]
            if group["max_grad_norm"] > 0 and params:  # the norm of this group alone
                norm = torch.stack([p.grad.norm() for p in params]).norm()
                clip = ((norm + 1e-6) / group["max_grad_norm"]).clamp(min=1.0)
            for p in params:
                state, grad = self.state[p], p.grad
                if group["max_grad_norm"] > 0:
                    grad = grad / clip
                if not state:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                mean, square, rate = state["exp_avg"], state["exp_avg_sq"], group["lr"]
                mean.mul_(beta1).add_(grad, alpha=1 - beta1)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                rate *= (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
                root = square.sqrt() + eps
                p.sub_((mean / root).add(p, alpha=decay), alpha=rate)
        return loss


optimizer = ClippingAdam(model.parameters(), lr=1e-4, max_grad_norm=1.0)
