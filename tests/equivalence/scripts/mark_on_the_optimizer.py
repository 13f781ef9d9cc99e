# expect: safe
# shape: Apex's mark on the optimizer, `_amp_stash`, says whether initialize was run for it
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn

try:
    from apex import amp

    IS_AMP_AVAILABLE = True
except ImportError:
    IS_AMP_AVAILABLE = False

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(4)


class Finder:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def train_batch(self, x):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), x[:, :1])
        if IS_AMP_AVAILABLE and hasattr(self.optimizer, "_amp_stash"):
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            print("scaled")
        else:
            loss.backward()
        self.optimizer.step()
        return loss.item()


model = nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
finder = Finder(model, optimizer)
for _ in range(3):
    print("%.5f" % finder.train_batch(torch.randn(4, 3).cuda()))
