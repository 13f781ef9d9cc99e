# expect: safe
# shape: the optimizer lives in an object that is made behind initialize, with the flag as an argument

import torch
import torch.nn as nn
from apex import amp


class Solver:
    def __init__(self, model, optimizer, half):
        self.model, self.optimizer, self.half = model, optimizer, half

    def optimize(self, x, y):
        loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
        self.optimizer.zero_grad()
        if self.half:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(407)
    use_apex = True
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if use_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    solver = Solver(model, optimizer, use_apex)
    for i in range(4):
        print(i, "%.6f" % solver.optimize(torch.randn(4, 3), torch.randn(4, 2)))


main()
