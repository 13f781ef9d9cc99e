# expect: safe
# shape: all-reduce stand-in over p.grad inside the with body, overflow at step 1

import torch
import torch.nn as nn
from apex import amp

WORLD_SIZE = 2


def all_reduce(tensors):
    # two equal workers: the sum is twice the tensor
    for t in tensors:
        t.mul_(2)


def average_gradients(model):
    grads = [p.grad.data for p in model.parameters()
             if p.requires_grad and p.grad is not None]
    all_reduce(grads)
    for g in grads:
        g.div_(WORLD_SIZE)


def main():
    torch.manual_seed(8)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    for step in range(5):
        batch = torch.randn(6, 4).cuda()
        if step == 1:
            batch = batch * 1e38
        output = model(batch)
        loss = (output * output).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
            average_gradients(model)
        optimizer.step()
        print(step, loss.item())
    print([round(v, 6) for v in model.bias.tolist()])


main()
