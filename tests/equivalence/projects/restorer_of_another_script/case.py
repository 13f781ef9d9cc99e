# expect: review

import torch
from apex import amp

from save import log


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(4):
        loss = model(torch.rand(3, 4)).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        log(step, loss.item())
    return list(model.parameters())


if __name__ == "__main__":
    main()
