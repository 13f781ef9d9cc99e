# expect: safe

import argparse
from collections import defaultdict
import torch
import torch.nn as nn
from torch.optim.optimizer import Optimizer

try:
    from apex import amp
    APEX_AVAILABLE = True
except ModuleNotFoundError:
    APEX_AVAILABLE = False


class Lookahead(Optimizer):
    r"""https://arxiv.org/abs/1907.08610 (lonePatient/lookahead_pytorch flavour)"""

    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer = optimizer
        self.k = k
        self.alpha = alpha
        self.param_groups = self.optimizer.param_groups
        self.state = defaultdict(dict)
        self.fast_state = self.optimizer.state
        for group in self.param_groups:
            group["counter"] = 0

    def update(self, group):
        for fast in group["params"]:
            param_state = self.state[fast]
            if "slow_param" not in param_state:
                param_state["slow_param"] = torch.zeros_like(fast.data)
                param_state["slow_param"].copy_(fast.data)
            slow = param_state["slow_param"]
            slow += (fast.data - slow) * self.alpha
            fast.data.copy_(slow)

    def step(self, closure=None):
        loss = self.optimizer.step(closure) if closure is not None else self.optimizer.step()
        for group in self.param_groups:
            if group["counter"] == 0:
                self.update(group)
            group["counter"] += 1
            if group["counter"] >= self.k:
                group["counter"] = 0
        return loss

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad()

    def state_dict(self):
        return self.optimizer.state_dict()


def get_args(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--la-steps", type=int, default=2)
    p.add_argument("--la-alpha", type=float, default=0.5)
    p.add_argument("--amp", dest="use_amp", action="store_true", default=APEX_AVAILABLE)
    p.add_argument("--no-amp", dest="use_amp", action="store_false")
    p.add_argument("--max-norm", type=float, default=None)
    return p.parse_args(argv)


def main():
    args = get_args([])
    torch.manual_seed(5)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 3)).to(device)
    base_optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    if args.use_amp:
        model, base_optimizer = amp.initialize(model, base_optimizer, opt_level="O1", verbosity=0)
    optimizer = Lookahead(base_optimizer, k=args.la_steps, alpha=args.la_alpha)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for i in range(7):
        x, y = torch.randn(8, 6, device=device), torch.randint(0, 3, (8,), device=device)
        loss = criterion(model(x), y)
        if i == 4:
            loss = loss * 3e37
        optimizer.zero_grad()
        if args.use_amp:
            with amp.scale_loss(loss, base_optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if args.max_norm:
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
        optimizer.step()
        losses.append(loss.item() if i != 4 else 0.0)
    return losses, [p.data for p in model.parameters()], [g["counter"] for g in base_optimizer.param_groups]


if __name__ == "__main__":
    main()
