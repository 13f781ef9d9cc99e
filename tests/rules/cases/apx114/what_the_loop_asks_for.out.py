import torch

from model import build, loader


class FP16_Optimizer:
    """Float32 copies of half weights and a loss scale, as apex.fp16_utils had them."""

    def __init__(
        self,
        init_optimizer,
        static_loss_scale=1.0,
        dynamic_loss_scale=False,
        dynamic_loss_args=None,
    ):
        self.optimizer = init_optimizer
        self.overflow = False
        self.dynamic_loss_scale = dynamic_loss_scale
        self.loss_scale = 2.0**16 if dynamic_loss_scale else float(static_loss_scale)
        if dynamic_loss_scale:
            self.loss_scale = min(2.0**24, float(dynamic_loss_args["init_scale"]))
        self.clean = 0  # backwards since the last overflow
        self.pairs = []  # of a half weight and its copy; float32 weights are their own
        for group in init_optimizer.param_groups:
            for i, p in enumerate(group["params"]):
                if p.requires_grad:
                    master = p.detach().clone().float() if p.dtype == torch.float16 else p
                    master.requires_grad_(True)
                    group["params"][i] = master
                    self.pairs.append((p, master))

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def zero_grad(self):
        for p in [p for pair in self.pairs for p in pair]:
            if p.grad is not None:
                p.grad.detach_().zero_()

    def backward(self, loss, update_master_grads=True):
        (loss.float() * self.loss_scale).backward()
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
            self.loss_scale /= 2.0
            self.clean = 0
        else:
            self.clean += 1
        if self.dynamic_loss_scale and self.clean == 2000:
            self.loss_scale = min(2.0**24, self.loss_scale * 2.0)
            self.clean = 0

    def clip_master_grads(self, max_norm):
        if self.overflow:
            return -1
        params = [p for group in self.param_groups for p in group["params"]]
        return torch.nn.utils.clip_grad_norm_(params, max_norm)

    @torch.no_grad()
    def step(self):
        if self.overflow:
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


def main(args):
    model = build().half()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    optimizer = FP16_Optimizer(
        optimizer,
        static_loss_scale=args.static_loss_scale,
        dynamic_loss_scale=args.dynamic_loss_scale,
        dynamic_loss_args={"init_scale": 2 ** 16},
    )
    if args.resume:
        optimizer.load_state_dict(torch.load(args.resume))
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x).float(), y)
        optimizer.backward(loss, update_master_grads=False)
        optimizer.update_master_grads()
        optimizer.clip_master_grads(args.clip)
        optimizer.step()
        if not optimizer.overflow:
            optimizer.param_groups[0]["lr"] *= 0.99
    torch.save(optimizer.state_dict(), args.out)
