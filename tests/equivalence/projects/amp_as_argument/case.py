# expect: safe

import torch
import torch.nn as nn

from loops import train_epoch

try:
    from apex import amp
except ImportError:
    amp = None


def main(use_amp=True):
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(3)]
    out = []
    for _ in range(2):
        out += train_epoch(model, optimizer, data, amp=amp if use_amp else None)
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
