# expect: safe

import torch
from callbacks import BackwardCallback, Recorder
from data import batches
from model import Net
from loop import Loop


def main():
    torch.manual_seed(0)
    loop = Loop(Net().cuda(), callbacks=[BackwardCallback(opt_level="O1", clip=1.0), Recorder()])
    loop.fit(batches(8, 1, bad=(3,)))
    return loop.history, [p.sum() for p in loop.model.parameters()]


if __name__ == "__main__":
    print(main())
