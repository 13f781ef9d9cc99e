# expect: review: the level is built from a number given on the command line, 2 and 3 would be another precision
# shape: opt_level=("O%i" % params.amp), amp off at -1, guard with its amp arm as else
# argv: --amp -1
# argv: --amp 1
# argv: --amp 0

import argparse

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
import apex


class Trainer(object):
    def __init__(self, model, params):
        self.model = model
        self.params = params
        self.n_iter = 0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        # float16 / distributed (AMP)
        if params.amp >= 0:
            self.init_amp()

    def init_amp(self):
        """
        Initialize AMP optimizer.
        """
        params = self.params
        assert params.amp in [0, 1, 2, 3]
        self.model, self.optimizer = apex.amp.initialize(
            self.model, self.optimizer, opt_level=('O%i' % params.amp))

    def optimize(self, loss):
        """
        Optimize.
        """
        # check NaN
        if (loss != loss).data.any():
            print("NaN detected")
        params = self.params
        # regular optimization
        if params.amp == -1:
            self.optimizer.zero_grad()
            loss.backward()
            if params.clip_grad_norm > 0:
                clip_grad_norm_(self.model.parameters(), params.clip_grad_norm)
            self.optimizer.step()
        # AMP optimization
        else:
            self.optimizer.zero_grad()
            with apex.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            if params.clip_grad_norm > 0:
                clip_grad_norm_(apex.amp.master_params(self.optimizer), params.clip_grad_norm)
            self.optimizer.step()

    def mlm_step(self):
        x = torch.randn(4, 6).cuda()
        y = torch.randint(0, 3, (4,)).cuda()
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.optimize(loss)
        self.n_iter += 1
        print(self.n_iter, "%.6f" % loss.item())


parser = argparse.ArgumentParser()
parser.add_argument("--amp", type=int, default=-1, help="Use AMP wrapper for float16 / distributed / gradient accumulation. Level of optimization. -1 to disable.")
parser.add_argument("--clip_grad_norm", type=float, default=5)
params = parser.parse_args()
torch.manual_seed(54)
trainer = Trainer(nn.Linear(6, 3).cuda(), params)
for _ in range(5):
    trainer.mlm_step()
