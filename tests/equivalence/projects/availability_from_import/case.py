# expect: safe

import torch
import torch.nn as nn

from backwards import scaled_backward
from compat import APEX_AVAILABLE, amp


def main():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    fp16 = APEX_AVAILABLE
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for _ in range(3):
        loss = model(torch.ones(4, 3)).pow(2).mean()
        optimizer.zero_grad()
        if fp16:
            scaled_backward(loss, optimizer)
        else:
            loss.backward()
        optimizer.step()
    return list(model.parameters())


if __name__ == "__main__":
    print(main())
