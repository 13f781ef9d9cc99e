"""Master weights of the older interface. Source: apex/contrib/optimizers/fp16_optimizer.py at tag 25.05."""

import torch


class FP16_Optimizer:
    """Float32 copies of half weights and a loss scale, as apex.optimizers once had them."""

    def __init__(
        self,
        init_optimizer,
        static_loss_scale=1.0,
        dynamic_loss_scale=False,
        dynamic_loss_args=None,
        verbose=True,
    ):
        self.optimizer = init_optimizer
        self.verbose = verbose
        self.dynamic_loss_scale = dynamic_loss_scale
        self.cur_scale = 2.0**16 if dynamic_loss_scale else static_loss_scale
        self.cur_iter = 0
        self.last_overflow_iter = -1
        self.scale_factor = 2
        self.scale_window = 1000
        self.pairs = []  # of a half weight and its copy
        for group in init_optimizer.param_groups:
            masters = [p.detach().clone().float() for p in group["params"]]
            self.pairs += zip(group["params"], masters)
            group["params"] = masters

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @param_groups.setter
    def param_groups(self, value):
        self.optimizer.param_groups = value

    @property
    def state(self):
        return self.optimizer.state

    def zero_grad(self, set_grads_to_None=True):
        for p, _ in self.pairs:
            if set_grads_to_None:
                p.grad = None
            elif p.grad is not None:
                p.grad.detach_().zero_()

    def backward(self, loss):
        (loss.float() * self.cur_scale).backward()

    @torch.no_grad()
    def step(self, closure=None):
        grads = [p.grad for p, _ in self.pairs if p.grad is not None]
        overflow = not all(torch.isfinite(grad).all() for grad in grads)
        if not overflow:
            for p, master in self.pairs:
                master.grad = None if p.grad is None else p.grad.float() / self.cur_scale
            self.optimizer.step()
            for p, master in self.pairs:
                p.copy_(master)
                master.grad = None
        elif self.verbose:
            print("Grad overflow on iteration", self.cur_iter, "with loss scale", self.cur_scale)
        since = self.cur_iter - self.last_overflow_iter
        if self.dynamic_loss_scale and overflow:
            self.cur_scale = max(self.cur_scale / self.scale_factor, 1)
            self.last_overflow_iter = self.cur_iter
        elif self.dynamic_loss_scale and since % self.scale_window == 0:
            self.cur_scale *= self.scale_factor
        self.cur_iter += 1

    def state_dict(self):
        return {
            "dynamic_loss_scale": self.dynamic_loss_scale,
            "cur_scale": self.cur_scale,
            "cur_iter": self.cur_iter,
            "last_overflow_iter": self.last_overflow_iter,
            "optimizer_state_dict": self.optimizer.state_dict(),
            "fp32_groups": [[master for _, master in self.pairs]],
        }

    def load_state_dict(self, state_dict):
        self.dynamic_loss_scale = state_dict["dynamic_loss_scale"]
        self.cur_scale = state_dict["cur_scale"]
        self.cur_iter = state_dict["cur_iter"]
        self.last_overflow_iter = state_dict.get("last_overflow_iter", -1)
        self.optimizer.load_state_dict(state_dict["optimizer_state_dict"])
        saved = [p for group in state_dict["fp32_groups"] for p in group]
        for (_, master), one in zip(self.pairs, saved):
            master.data.copy_(one.data)
