# expect: safe
# shape: the loss handed to a method optimize(loss) that scales it and steps, two callers
# argv: --amp
# argv:

import argparse
import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    pass


class Trainer(object):

    def __init__(self, params):
        self.params = params
        self.encoder = nn.Linear(4, 6).cuda()
        self.decoder = nn.Linear(6, 3).cuda()
        plist = [p for m in (self.encoder, self.decoder) for p in m.parameters()]
        self.optimizer = torch.optim.Adam(plist, lr=0.02)
        if params.amp:
            (self.encoder, self.decoder), self.optimizer = amp.initialize(
                [self.encoder, self.decoder], self.optimizer, opt_level='O1')

    def optimize(self, loss):
        self.optimizer.zero_grad()
        if self.params.amp:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()

    def enc_dec_step(self, x, y):
        scores = self.decoder(torch.relu(self.encoder(x)))
        loss = nn.functional.cross_entropy(scores, y)
        self.optimize(loss)
        return loss.item()

    def denoise_step(self, x, y):
        noisy = x + 0.1
        loss = self.decoder(torch.relu(self.encoder(noisy))).pow(2).mean() * 0.1
        self.optimize(loss)
        return loss.item()


parser = argparse.ArgumentParser()
parser.add_argument('--amp', action='store_true')
params = parser.parse_args()
torch.manual_seed(68)
t = Trainer(params)
for n in range(4):
    x, y = torch.randn(5, 4).cuda(), torch.randint(0, 3, (5,)).cuda()
    print(n, "%.6f %.6f" % (t.enc_dec_step(x, y), t.denoise_step(x, y)))
