# expect: review several optimizers share this loss
import torch
from apex import amp


def main(first, second, loader):
    g = torch.optim.SGD(first.parameters(), lr=0.1)
    d = torch.optim.SGD(second.parameters(), lr=0.1)
    wrapped = amp.initialize([first, second], [g, d], opt_level="O1")
    first, second = wrapped[0]
    g, d = wrapped[1]
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(second(first(x)), y)
        for one in wrapped[1]:
            one.zero_grad()
        with amp.scale_loss(loss, [g, d]) as scaled:
            scaled.backward()
        g.step()
        d.step()
