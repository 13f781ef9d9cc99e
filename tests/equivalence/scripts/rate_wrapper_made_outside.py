# expect: safe
# shape: the optimizer is handed to a wrapper that steps it; whether mixed precision is on only main() can say
# argv: --fp16
# argv:

import argparse
import torch
import torch.nn as nn
from apex import amp


class Noam:
    def __init__(self, size, warmup, optimizer):
        self.optimizer, self.size, self.warmup = optimizer, size, warmup
        self.steps = 0

    def rate(self):
        return self.size ** -0.5 * min(self.steps ** -0.5, self.steps * self.warmup ** -1.5)

    def step(self):
        self.steps += 1
        for group in self.optimizer.param_groups:
            group['lr'] = self.rate()
        return self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--fp16', action='store_true')
    args = parser.parse_args()
    torch.manual_seed(8)
    model = nn.Linear(4, 2).cuda()
    adam = torch.optim.Adam(model.parameters(), lr=0.0)
    if args.fp16:
        model, adam = amp.initialize(model, adam, opt_level='O1')
    noam = Noam(4, 3, adam)
    for i in range(8):
        loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda()) / 2
        if i == 4 and args.fp16:
            loss = loss * float('inf')
        if args.fp16:
            with amp.scale_loss(loss, adam) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if i % 2 == 1:
            torch.nn.utils.clip_grad_norm_(amp.master_params(adam) if args.fp16 else model.parameters(), 0.5)
            noam.step()
            adam.zero_grad()
        print(i, '%.6f' % loss.item(), '%.4f' % adam.param_groups[0]['lr'])


main()
