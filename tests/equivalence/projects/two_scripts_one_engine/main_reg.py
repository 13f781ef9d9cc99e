import argparse

import torch
import torch.nn as nn
from apex import amp

from engine import run_epoch

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")


def main(argv=None):
    args = parser.parse_args(argv)
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(3)]
    out = [run_epoch(model, optimizer, nn.MSELoss(), data, fp16=args.fp16) for _ in range(2)]
    return out, list(model.parameters())


if __name__ == "__main__":
    main(["--fp16"])
