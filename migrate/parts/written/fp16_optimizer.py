"""Master weights and a loss scale. Source: apex/fp16_utils/fp16_optimizer.py and apex/amp/scaler.py at tag 25.05."""

import torch


class FP16_Optimizer:
    """Float32 copies of half weights and a loss scale, as apex.fp16_utils had them."""

    def __init__(
        self,
        init_optimizer,
        static_loss_scale=1.0,
        dynamic_loss_scale=False,
        dynamic_loss_args=None,
        verbose=True,
    ):
        self.optimizer = init_optimizer
        self.overflow = False
        self.verbose = verbose
        self.dynamic_loss_scale = dynamic_loss_scale
        self.loss_scale = 2.0**16 if dynamic_loss_scale else float(static_loss_scale)
        self.factor = 2.0
        self.window = 2000
        self.most = 2.0**24
        self.least = None
        if dynamic_loss_args:
            if "scale_factor" in dynamic_loss_args:
                self.factor = dynamic_loss_args["scale_factor"]
            if "scale_window" in dynamic_loss_args:
                self.window = dynamic_loss_args["scale_window"]
            if "max_loss_scale" in dynamic_loss_args:
                self.most = dynamic_loss_args["max_loss_scale"]
            if "min_loss_scale" in dynamic_loss_args:
                self.least = dynamic_loss_args["min_loss_scale"]
            if dynamic_loss_scale and "init_scale" in dynamic_loss_args:
                self.loss_scale = min(self.most, float(dynamic_loss_args["init_scale"]))
        self.clean = 0  # backwards since the last overflow
        self.pairs = []  # of a half weight and its copy; float32 weights are their own
        for group in init_optimizer.param_groups:
            for i, p in enumerate(group["params"]):
                if p.requires_grad:
                    master = p.detach().clone().float() if p.dtype == torch.float16 else p
                    master.requires_grad_(True)
                    group["params"][i] = master
                    self.pairs.append((p, master))
        if init_optimizer.state:  # it took steps before
            for p, master in self.pairs:
                if p in init_optimizer.state:
                    init_optimizer.state[master] = init_optimizer.state.pop(p)
            init_optimizer.load_state_dict(init_optimizer.state_dict())

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @param_groups.setter
    def param_groups(self, value):
        self.optimizer.param_groups = value

    @property
    def state(self):
        return self.optimizer.state

    def zero_grad(self, set_grads_to_None=False):
        for p in [p for pair in self.pairs for p in pair]:
            if set_grads_to_None:
                p.grad = None
            elif p.grad is not None:
                p.grad.detach_().zero_()

    def backward(self, loss, update_master_grads=True, retain_graph=False):
        (loss.float() * self.loss_scale).backward(retain_graph=retain_graph)
        if update_master_grads:
            self.update_master_grads()

    def update_master_grads(self):
        self.overflow = False
        for p, master in self.pairs:
            if p.grad is not None:
                if self.dynamic_loss_scale and not torch.isfinite(p.grad).all():
                    self.overflow = True
                grad = p.grad.float() / self.loss_scale
                if master is not p:
                    master.grad = grad
                else:
                    p.grad.copy_(grad)
        if self.overflow:
            self.loss_scale /= self.factor
            if self.least is not None:
                self.loss_scale = max(self.least, self.loss_scale)
            self.clean = 0
        else:
            self.clean += 1
        if self.dynamic_loss_scale and self.clean == self.window:
            self.loss_scale = min(self.most, self.loss_scale * self.factor)
            self.clean = 0

    def clip_master_grads(self, max_norm, norm_type=2):
        if self.overflow:
            return -1
        params = [p for group in self.param_groups for p in group["params"]]
        return torch.nn.utils.clip_grad_norm_(params, max_norm, norm_type=norm_type)

    @torch.no_grad()
    def step(self):
        if self.overflow:
            if self.verbose:
                print("Gradient overflow: step skipped, loss scale", self.loss_scale)
            return None
        result = self.optimizer.step()
        for p, master in self.pairs:
            if master is not p:
                p.copy_(master)
        return result

    def state_dict(self):
        return {
            "loss_scale": self.loss_scale,
            "clean": self.clean,
            "optimizer_state_dict": self.optimizer.state_dict(),
            "fp32_from_fp16": [[master for p, master in self.pairs if master is not p]],
        }

    def load_state_dict(self, state_dict):
        self.loss_scale = state_dict["loss_scale"]
        self.clean = state_dict["clean"]
        self.optimizer.load_state_dict(state_dict["optimizer_state_dict"])
        saved = [p for group in state_dict["fp32_from_fp16"] for p in group]
        masters = [master for p, master in self.pairs if master is not p]
        for master, one in zip(masters, saved):
            master.data.copy_(one.data)
