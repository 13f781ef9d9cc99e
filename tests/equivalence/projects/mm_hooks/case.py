# expect: safe

import torch
import torch.nn as nn

from hooks import ApexOptimizerHook, CheckpointHook
from loop_runner import EpochRunner


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    runner = EpochRunner(model, torch.optim.SGD(model.parameters(), lr=0.05), fp16=True)
    runner.register_hook(ApexOptimizerHook(grad_clip=1.0))
    runner.register_hook(CheckpointHook())
    losses = runner.run([(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(4)], 2)
    return losses, list(runner.model.parameters())


if __name__ == "__main__":
    print(main())
