import torch


class ApexAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam had it."""

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
            group["step"] = group.get("step", 0) + 1
            params = [p for p in group["params"] if p.grad is not None]
            for p in params:
                kind = torch.promote_types(p.dtype, torch.float32)
                state, grad, weight = self.state[p], p.grad.to(kind), p.to(kind)
                if not state:
                    state["exp_avg"] = torch.zeros_like(p, dtype=kind)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=kind)
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.mul_(beta1).add_(grad, alpha=1 - beta1)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                mean = mean / (1 - beta1 ** group["step"])
                square = square / (1 - beta2 ** group["step"])
                update = mean / (square.sqrt() + group["eps"])
                update = update.add(weight, alpha=group["weight_decay"])
                p.copy_(weight.sub(update, alpha=group["lr"]))
        return loss


def warmed(optimizer):
    group = optimizer.param_groups[0]
    return group["step"] + 1 if "step" in group else 1


optimizer = ApexAdam(model.parameters(), lr=0.1)
