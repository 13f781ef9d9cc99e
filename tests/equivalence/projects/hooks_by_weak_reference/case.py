# expect: review

import torch
from data import batches
from model import Net
from runner import DefaultRunner


def main():
    torch.manual_seed(0)
    runner = DefaultRunner(Net().cuda(), batches(10, 1, bad=(5,)), fp16=True, accumulate=2)
    runner.train()
    return runner.losses, [p.sum() for p in runner.model.parameters()]


if __name__ == "__main__":
    print(main())
