# expect: review

import torch
from data import batches
from model import Net
from task import Task


def main():
    torch.manual_seed(0)
    task = Task(Net().cuda(), period=2, max_norm=1.0).set_amp_args({"opt_level": "O1"})
    task.prepare()
    out = []
    for batch in batches(12, 1, bad=(4,)):
        out.append(task.train_step(batch))
    return out, [p.sum() for p in task.base_model.parameters()]


if __name__ == "__main__":
    print(main())
