import torch


class LAMB(torch.optim.Optimizer):
    """LAMB (arXiv 1904.00962) as apex.optimizers.FusedLAMB had it: it clips the norm of all gradients."""

    def __init__(self, params, lr=1e-3):
        defaults = dict(lr=lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01, max_grad_norm=1.0)
        super().__init__(params, defaults)

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
            share = 1 - beta1
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
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.mul_(beta1).add_(grad, alpha=share)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                mean = mean / (1 - beta1 ** group["step"])
                square = square / (1 - beta2 ** group["step"])
                update = mean / (square.sqrt() + group["eps"])
                update = update.add(p, alpha=decay)
                rate = group["lr"]
                if decay != 0:
                    weight, change = p.norm(), update.norm()
                    rate = rate * torch.where(
                        (weight > 0) & (change > 0), weight / change, torch.ones_like(weight)
                    )
                p.sub_(update * rate)
        return loss


def wrap(params):
    return LAMB(params)


if __name__ == "__main__":
    import torch

    wrap(torch.nn.Linear(2, 2).parameters())
