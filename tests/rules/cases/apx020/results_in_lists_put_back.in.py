# expect: review several optimizers share this loss
# expect: review num_losses=2
import torch
from apex import amp


def main(first, second, loader):
    g = torch.optim.SGD(first.parameters(), lr=0.1)
    d = torch.optim.SGD(second.parameters(), lr=0.1)
    nets, optims = amp.initialize([first, second], [g, d], opt_level="O1", num_losses=2)
    first, second = nets
    g, d = optims
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(second(first(x)), y)
        g.zero_grad()
        d.zero_grad()
        with amp.scale_loss(loss, [g, d]) as scaled:
            scaled.backward()
        g.step()
        d.step()
