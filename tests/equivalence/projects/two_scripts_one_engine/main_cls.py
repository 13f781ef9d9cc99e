import argparse

import torch
import torch.nn as nn
from apex import amp

from engine import run_epoch

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--epochs", default=2, type=int)


def main(argv=None):
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)]
    out = [run_epoch(model, optimizer, nn.CrossEntropyLoss(), data, args.fp16, boom=1) for _ in range(args.epochs)]
    print(["%.4f" % o for o in out[:0]])
    return out, list(model.parameters())


if __name__ == "__main__":
    main(["--fp16"])
