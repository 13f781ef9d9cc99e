"""Adam to derive from. Source: csrc/multi_tensor_adam.cu and apex/optimizers/fused_adam.py at tag 25.05."""

import torch


@torch.no_grad()
def multi_tensor_adam(
    chunk_size, noop_flag, tensor_lists, lr, beta1, beta2, eps, step, mode, bias_correction, weight_decay
):
    """One step of Adam for lists of gradients, weights and both averages; mode 0 adds the decay to the gradient."""
    first = 1 - beta1**step if bias_correction else 1.0
    second = 1 - beta2**step if bias_correction else 1.0
    for grad, p, exp_avg, exp_avg_sq in zip(*tensor_lists):
        grad, weight = grad.to(exp_avg.dtype), p.to(exp_avg.dtype)
        if mode == 0:
            grad = grad.add(weight, alpha=weight_decay)
        exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        update = (exp_avg / first) / ((exp_avg_sq / second).sqrt() + eps)
        if mode != 0:
            update = update.add(weight, alpha=weight_decay)
        p.copy_(weight.sub(update, alpha=lr))


class ApexAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam had it, for classes that derive from it and call its kernel."""

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
    ):
        if amsgrad:
            raise RuntimeError("there is no AMSGrad variant")
        defaults = dict(
            lr=lr, bias_correction=bias_correction, betas=betas, eps=eps, weight_decay=weight_decay
        )
        super().__init__(params, defaults)
        self.adam_w_mode, self.set_grad_none = 1 if adam_w_mode else 0, set_grad_none
        self.multi_tensor_adam = multi_tensor_adam
        self._dummy_overflow_buf = torch.zeros(1, dtype=torch.int)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            group["step"] = group.get("step", 0) + 1
            lists = [[], [], [], []]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    kind = torch.promote_types(p.dtype, torch.float32)
                    state["exp_avg"] = torch.zeros_like(p, dtype=kind)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=kind)
                tensors = (p.grad, p, state["exp_avg"], state["exp_avg_sq"])
                for some, one in zip(lists, tensors):
                    some.append(one)
            multi_tensor_adam(
                2048 * 32,
                self._dummy_overflow_buf,
                lists,
                group["lr"],
                *group["betas"],
                group["eps"],
                group["step"],
                self.adam_w_mode,
                group["bias_correction"],
                group["weight_decay"],
            )
        return loss
