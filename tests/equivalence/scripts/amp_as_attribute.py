# expect: safe
# shape: args.amp = amp and self.amp, the module travels as an attribute

import argparse
import torch
import torch.nn as nn


def get_amp(fp16):
    """This function ensures that amp can be imported when it is asked for"""
    if fp16:
        from apex import amp
        return amp
    return None


class Runner:
    def __init__(self, fp16):
        self.amp = get_amp(fp16)
        self.model = nn.Linear(4, 3).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)
        if self.amp is not None:
            self.model, self.optimizer = self.amp.initialize(self.model, self.optimizer, opt_level='O1')

    def run(self, steps):
        for i in range(steps):
            loss = nn.functional.cross_entropy(self.model(torch.randn(3, 4).cuda()), torch.tensor([0, 1, 2]).cuda())
            self.optimizer.zero_grad()
            if self.amp is not None:
                with self.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
            print(i, "%.6f" % loss.item())


torch.manual_seed(93)
Runner(True).run(5)
