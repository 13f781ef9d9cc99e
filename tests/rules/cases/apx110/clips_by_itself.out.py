import torch


class ClippingAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam was before 2019: it clips the norm of a group, and corrects its rate alone."""

    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-8,
        eps_inside_sqrt=False,
        weight_decay=0.0,
        max_grad_norm=0.0,
        amsgrad=False,
        use_mt=False,
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
        self.eps_inside_sqrt = eps_inside_sqrt

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            eps, decay = group["eps"], group["weight_decay"]
            grads = [p.grad for p in group["params"] if p.grad is not None]
            clip = 1.0
            if group["max_grad_norm"] > 0 and grads:
                norm = torch.stack([grad.norm() for grad in grads]).norm()
                clip = ((norm + 1e-6) / group["max_grad_norm"]).clamp(min=1.0)
            for p in group["params"]:
                if p.grad is None:
                    continue
                state, grad = self.state[p], p.grad / clip
                if not state:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                state["step"] += 1
                state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                rate = group["lr"]
                if group["bias_correction"]:
                    rate *= (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
                inside, beside = (eps, 0.0) if self.eps_inside_sqrt else (0.0, eps)
                root = (state["exp_avg_sq"] + inside).sqrt() + beside
                p.sub_((state["exp_avg"] / root).add(p, alpha=decay), alpha=rate)
        return loss


optimizer = ClippingAdam(model.parameters(), lr=1e-4, bias_correction=True, max_grad_norm=1.0)
