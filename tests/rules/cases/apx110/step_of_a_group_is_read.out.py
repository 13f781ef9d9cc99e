import torch


class ApexAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam had it: decay apart from the gradient, none by default, correction or none."""

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
        self.adam_w_mode = 1 if adam_w_mode else 0

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            group["step"] = group.get("step", 0) + 1
            corrected = group["bias_correction"]
            first = 1 - beta1 ** group["step"] if corrected else 1.0
            second = 1 - beta2 ** group["step"] if corrected else 1.0
            grads = [p.grad for p in group["params"] if p.grad is not None]
            clip = 1.0
            if group["max_grad_norm"] > 0 and grads:  # of this group alone
                norm = torch.stack([grad.norm() for grad in grads]).norm()
                clip = ((norm + 1e-6) / group["max_grad_norm"]).clamp(min=1.0)
            for p in group["params"]:
                if p.grad is None:
                    continue
                kind = torch.promote_types(p.dtype, torch.float32)
                state, grad, weight = self.state[p], p.grad.to(kind) / clip, p.to(kind)
                if not state:
                    state["exp_avg"] = torch.zeros_like(p, dtype=kind)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=kind)
                if not self.adam_w_mode:
                    grad = grad.add(weight, alpha=group["weight_decay"])
                state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                update = (state["exp_avg"] / first) / (
                    (state["exp_avg_sq"] / second).sqrt() + group["eps"]
                )
                if self.adam_w_mode:
                    update = update.add(weight, alpha=group["weight_decay"])
                p.copy_(weight.sub(update, alpha=group["lr"]))
        return loss


def warmed(optimizer):
    group = optimizer.param_groups[0]
    return group["step"] + 1 if "step" in group else 1


optimizer = ApexAdam(model.parameters(), lr=0.1)
