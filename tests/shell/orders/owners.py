import torch
from apex import amp


def main(loader):
    first, second, third = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    a = torch.optim.SGD(first.parameters(), lr=0.1)
    b = torch.optim.SGD(second.parameters(), lr=0.1)
    c = torch.optim.SGD(third.parameters(), lr=0.1)
    [first, second, third], [a, b, c] = amp.initialize([first, second, third], [a, b, c], opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(second(first(x)) + third(first(x)), y)
        with amp.scale_loss(loss, [a, b, c]) as scaled_loss:
            scaled_loss.backward()
        for optimizer in [a, b, c]:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
            optimizer.zero_grad()
