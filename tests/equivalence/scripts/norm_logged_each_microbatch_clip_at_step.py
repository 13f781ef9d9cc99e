# expect: review: the norm is divided by the loss scale
# shape: a norm is logged after every micro-batch, the clip and the step come after three, or at the end

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def total_norm(parameters):
    return torch.norm(torch.stack([p.grad.detach().norm() for p in parameters if p.grad is not None])).item()


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(7)]
    for epoch in range(2):
        for step, (x, y) in enumerate(data):
            loss = F.cross_entropy(model(x), y) / 3
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            print("%d %.4f" % (step, total_norm(model.parameters())))
            if (step + 1) % 3 == 0 or step == len(data) - 1:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.5)
                optimizer.step()
                optimizer.zero_grad()


main()
