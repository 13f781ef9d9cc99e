import torch
from torch.optim.lr_scheduler import LambdaLR

from model import build, loader


class ApexAdam(torch.optim.Optimizer):
    """Adam as apex.optimizers.FusedAdam had it, with bias_correction=False."""

    def __init__(self, params, lr=1e-3, max_grad_norm=0.0):
        defaults = dict(
            lr=lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, max_grad_norm=max_grad_norm
        )
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            params = [p for p in group["params"] if p.grad is not None]
            if group["max_grad_norm"] > 0 and params:  # the norm of this group alone
                norm = torch.stack([p.grad.norm() for p in params]).norm()
                clip = ((norm + 1e-6) / group["max_grad_norm"]).clamp(min=1.0)
            for p in params:
                kind = torch.promote_types(p.dtype, torch.float32)
                state, grad, weight = self.state[p], p.grad.to(kind), p.to(kind)
                if group["max_grad_norm"] > 0:
                    grad = grad / clip
                if not state:
                    state["exp_avg"] = torch.zeros_like(p, dtype=kind)
                    state["exp_avg_sq"] = torch.zeros_like(p, dtype=kind)
                mean, square = state["exp_avg"], state["exp_avg_sq"]
                mean.mul_(beta1).add_(grad, alpha=1 - beta1)
                square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                update = mean / (square.sqrt() + group["eps"])
                update = update.add(weight, alpha=group["weight_decay"])
                p.copy_(weight.sub(update, alpha=group["lr"]))


class FP16_Optimizer:
    """Float32 copies of half weights and a loss scale, as apex.optimizers once had them."""

    def __init__(self, init_optimizer, static_loss_scale=1.0, dynamic_loss_scale=False):
        self.optimizer = init_optimizer
        self.dynamic_loss_scale = dynamic_loss_scale
        self.cur_scale = 2.0**16 if dynamic_loss_scale else static_loss_scale
        self.cur_iter = 0
        self.last_overflow_iter = -1
        self.pairs = []  # of a half weight and its copy
        for group in init_optimizer.param_groups:
            masters = [p.detach().clone().float() for p in group["params"]]
            self.pairs += zip(group["params"], masters)
            group["params"] = masters

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def zero_grad(self):
        for p, _ in self.pairs:
            p.grad = None

    def backward(self, loss):
        (loss.float() * self.cur_scale).backward()

    @torch.no_grad()
    def step(self):
        grads = [p.grad for p, _ in self.pairs if p.grad is not None]
        overflow = not all(torch.isfinite(grad).all() for grad in grads)
        if not overflow:
            for p, master in self.pairs:
                master.grad = None if p.grad is None else p.grad.float() / self.cur_scale
            self.optimizer.step()
            for p, master in self.pairs:
                p.copy_(master)
                master.grad = None
        else:
            print("Grad overflow on iteration", self.cur_iter, "with loss scale", self.cur_scale)
        since = self.cur_iter - self.last_overflow_iter
        if self.dynamic_loss_scale and overflow:
            self.cur_scale = max(self.cur_scale / 2, 1)
            self.last_overflow_iter = self.cur_iter
        elif self.dynamic_loss_scale and since % 1000 == 0:
            self.cur_scale *= 2
        self.cur_iter += 1


args = parser.parse_args()
model = build()
if args.fp16:
    model.half()
groups = [
    {"params": [p for n, p in model.named_parameters() if "bias" not in n], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if "bias" in n], "weight_decay": 0.0},
]
if args.fp16:
    optimizer = ApexAdam(groups, lr=args.lr, max_grad_norm=1.0)
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    if args.loss_scale == 0:
        optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
    else:
        optimizer = FP16_Optimizer(optimizer, static_loss_scale=args.loss_scale)
else:
    optimizer = torch.optim.Adam(groups, lr=args.lr)
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
for batch in loader:
    loss = model(batch)
    if args.fp16:
        optimizer.backward(loss)
    else:
        loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
torch.save(model.state_dict(), args.out)
