# expect: review: native AMP skips each optimizer on its own, Apex skipped all
# shape: optimizers kept in a dict under computed keys, scale_loss over a list of them

import torch
import torch.nn as nn
import apex


class Trainer(object):
    MODEL_NAMES = ['encoder', 'decoder']

    def __init__(self, names):
        self.encoder = nn.Linear(3, 4).cuda()
        self.decoder = nn.Linear(4, 3).cuda()
        self.optimizers = {k: torch.optim.SGD(getattr(self, k).parameters(), lr=0.1) for k in names}
        opt_names = self.optimizers.keys()
        models = [getattr(self, name) for name in names]
        models, optimizers = apex.amp.initialize(models, [self.optimizers[k] for k in opt_names], opt_level='O1')
        for name, model in zip(names, models):
            setattr(self, name, model)
        self.optimizers = {opt_name: optimizer for opt_name, optimizer in zip(opt_names, optimizers)}

    def optimize(self, loss):
        names = self.optimizers.keys()
        optimizers = [self.optimizers[k] for k in names]
        for optimizer in optimizers:
            optimizer.zero_grad()
        with apex.amp.scale_loss(loss, optimizers) as scaled_loss:
            scaled_loss.backward()
        for optimizer in optimizers:
            optimizer.step()


torch.manual_seed(125)
t = Trainer(Trainer.MODEL_NAMES)
for i in range(4):
    x = torch.randn(4, 3).cuda()
    loss = nn.functional.mse_loss(t.decoder(t.encoder(x)), x)
    t.optimize(loss)
    print(i, "%.6f" % loss.item())
