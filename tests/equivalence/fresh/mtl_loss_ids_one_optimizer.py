# expect: review: num_losses=len(TASKS): Apex kept one loss scale per loss; one GradScal

"""Multi task learning (MT-DNN like): one shared encoder, task heads, one loss scaler per task, tasks sampled at random."""
import random
from collections import OrderedDict

import torch
import torch.nn as nn

from apex import amp


TASKS = OrderedDict([("cola", 2), ("mnli", 3), ("stsb", 1)])


class MTModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 8))
        self.heads = nn.ModuleDict({t: nn.Linear(8, n) for t, n in TASKS.items()})

    def forward(self, x, task):
        return self.heads[task](torch.tanh(self.shared(x)))


def make_batches(seed, per_task=3):
    g = torch.Generator().manual_seed(seed)
    out = []
    for task, n in TASKS.items():
        for b in range(per_task):
            x = torch.randn(5, 6, generator=g)
            y = torch.rand(5, generator=g) * 5 if n == 1 else torch.randint(0, n, (5,), generator=g)
            if task == "stsb" and b == 1:
                y = y * 1e30  # corrupted target in the regression task
            out.append((task, x, y))
    return out


def compute_loss(task, logits, y):
    if TASKS[task] == 1:
        return nn.functional.mse_loss(logits.squeeze(-1), y)
    return nn.functional.cross_entropy(logits, y)


def main():
    torch.manual_seed(5)
    rng = random.Random(5)
    model = MTModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", num_losses=len(TASKS), verbosity=0)
    task_id = {t: i for i, t in enumerate(TASKS)}
    meters = {t: [] for t in TASKS}
    batches = make_batches(1)
    rng.shuffle(batches)
    for step, (task, x, y) in enumerate(batches):
        model.train()
        loss = compute_loss(task, model(x, task), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer, loss_id=task_id[task]) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        scheduler.step()
        if torch.isfinite(loss):
            meters[task].append(loss.item())
    model.eval()
    with torch.no_grad():
        evals = [compute_loss(t, model(x, t), y) for t, x, y in make_batches(2, per_task=1)]
    scales = [amp.state_dict()["loss_scaler%d" % i]["loss_scale"] for i in range(len(TASKS))]
    return [meters[t] for t in TASKS], evals, [p for p in model.parameters()], scales


if __name__ == "__main__":
    main()
