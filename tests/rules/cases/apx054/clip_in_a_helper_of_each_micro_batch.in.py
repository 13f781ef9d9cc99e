# expect: review stay scaled until then
import torch
from apex import amp


def backward(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_norm)


def train():
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for batches in loader:
        for x, y in batches:
            backward(torch.nn.functional.cross_entropy(model(x), y), optimizer)
        optimizer.step()
        optimizer.zero_grad()


train()
