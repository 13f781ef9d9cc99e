# expect: safe
# shape: amp imported in one function under global, used in methods

import torch
import torch.nn as nn

config = {'fp16': True, 'grad_clipping': 0.2, 'learning_rate': 0.05}


class MTModel(object):
    def __init__(self, opt):
        self.config = opt
        self.updates = 0
        self.network = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 2)).cuda()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=opt['learning_rate'])
        self._setup_fp16()

    def _setup_fp16(self):
        if self.config['fp16']:
            try:
                from apex import amp
                global amp
            except ImportError:
                raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
            model, optimizer = amp.initialize(self.network, self.optimizer, opt_level='O1')
            self.network = model
            self.optimizer = optimizer

    def update(self, x, y):
        self.network.train()
        logits = self.network(x)
        loss = nn.functional.cross_entropy(logits, y)
        if self.config['fp16']:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if self.config['grad_clipping'] > 0:
            if self.config['fp16']:
                torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.config['grad_clipping'])
            else:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config['grad_clipping'])
        self.updates += 1
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(53)
model = MTModel(config)
for _ in range(5):
    print("update %d: %.6f" % (model.updates, model.update(torch.randn(4, 5).cuda(), torch.tensor([0, 1, 1, 0]).cuda())))
