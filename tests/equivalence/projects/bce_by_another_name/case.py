# expect: safe

import torch
import torch.nn as nn
from apex import amp

from losses import DiceBCE
from seg_engine import step


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    criterion = DiceBCE()
    out = [step(model, optimizer, criterion, torch.randn(2, 1, 4, 4), torch.rand(2, 1, 4, 4).round()) for _ in range(3)]
    return out, list(model.parameters())


if __name__ == "__main__":
    main()
