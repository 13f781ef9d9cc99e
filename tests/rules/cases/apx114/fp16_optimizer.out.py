import torch


class FP16_Optimizer:
    """Float32 copies of half weights and a loss scale, as apex.fp16_utils had them."""

    def __init__(self, init_optimizer):
        self.optimizer = init_optimizer
        self.overflow = False
        self.loss_scale = 2.0**16
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

    def zero_grad(self):
        for p in [p for pair in self.pairs for p in pair]:
            if p.grad is not None:
                p.grad.detach_().zero_()

    def backward(self, loss):
        (loss.float() * self.loss_scale).backward()
        self.update_master_grads()

    def update_master_grads(self):
        self.overflow = False
        for p, master in self.pairs:
            if p.grad is not None:
                if not torch.isfinite(p.grad).all():
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
        if self.clean == 2000:
            self.loss_scale = min(2.0**24, self.loss_scale * 2.0)
            self.clean = 0

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


class ToHalf(torch.nn.Module):
    """Casts what a model in half precision is called with."""

    def forward(self, input):
        return input.half()


def network_to_half(network):
    """A model in half precision but for its batch norms, behind a cast of its input, as apex.fp16_utils made it."""
    network = network.half()
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine:
            module.float()
    return torch.nn.Sequential(ToHalf(), network)


model = network_to_half(model.cuda())
optimizer = FP16_Optimizer(optimizer)
for x, y in loader:
    optimizer.zero_grad()
    optimizer.backward(criterion(model(x), y))
    optimizer.step()
