# expect: manual gradients are read or changed inside the scale_loss block
import torch
import torch.nn.functional as F
from apex import amp


def total_norm(parameters):
    return torch.norm(torch.stack([torch.norm(p.grad, 2) for p in parameters]), 2)


def main(data):
    model = torch.nn.Linear(6, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, (x, y) in enumerate(data):
        loss = F.cross_entropy(model(x), y) / 3
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
            print(total_norm(model.parameters()))
        if (step + 1) % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()
