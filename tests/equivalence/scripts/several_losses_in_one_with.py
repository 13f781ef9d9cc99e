# expect: review: num_losses=2
# shape: two losses are scaled in the header of one with statement, or in blocks in one another

import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


@contextlib.contextmanager
def timed(log):
    yield
    log.append("backward")


def main():
    torch.manual_seed(2)
    a, b = nn.Linear(4, 3).cuda(), nn.Linear(4, 3).cuda()
    opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
    [a, b], [opt_a, opt_b] = amp.initialize([a, b], [opt_a, opt_b], opt_level="O1", num_losses=2)
    log = []
    for step in range(9):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        loss_a, loss_b = F.cross_entropy(a(x), y), F.cross_entropy(b(x), y)
        opt_a.zero_grad()
        opt_b.zero_grad()
        if step % 3 == 0:
            with amp.scale_loss(loss_a, opt_a, loss_id=0) as scaled_a, amp.scale_loss(loss_b, opt_b, loss_id=1) as scaled_b:
                scaled_a.backward()
                scaled_b.backward()
        elif step % 3 == 1:
            with amp.scale_loss(loss_a, opt_a, loss_id=0) as scaled_a, timed(log), amp.scale_loss(loss_b, opt_b, loss_id=1) as scaled_b:
                scaled_b.backward()
                scaled_a.backward()
        else:
            with amp.scale_loss(loss_a, opt_a, loss_id=0) as scaled_a:
                with amp.scale_loss(loss_b, opt_b, loss_id=1) as scaled_b:
                    scaled_a.backward()
                    scaled_b.backward()
        opt_a.step()
        opt_b.step()
    print(a.weight, b.weight, log)


main()
