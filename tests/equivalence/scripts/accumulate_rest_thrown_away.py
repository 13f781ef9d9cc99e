# expect: review: the gradients of an overflow are thrown away before this step: Apex left it out all the same
# shape: seven batches in windows of three; what is left of one is cleared behind the epoch
# differs: weights|steps

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def main():
    torch.manual_seed(5)
    model = nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(7)]
    for epoch in range(3):
        for i, (x, y) in enumerate(data):
            loss = F.cross_entropy(model(x), y) / 3
            if epoch == 1 and i == 6:
                loss = loss * 1e36
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if (i + 1) % 3 == 0:
                nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        optimizer.zero_grad()


main()
