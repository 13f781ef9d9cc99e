import torch
from apex import amp


def main(kind, loader):
    model = torch.nn.Linear(4, 2)
    net = model
    network = net
    first = torch.optim.SGD(model.parameters(), lr=0.1)
    second = torch.optim.Adam(net.parameters(), lr=0.1)
    third = torch.optim.Adagrad(network.parameters(), lr=0.1)
    optimizer = first if kind == 1 else second if kind == 2 else third
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        optimizer.step()
        optimizer.zero_grad()
