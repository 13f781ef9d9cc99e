# expect: manual: the model is called under Apex's casts, now without autocast
# shape: train() makes the object that holds model and scaler where there is none yet, and runs the model by that: nothing
#        there can ask the scaler whether mixed precision is on

import torch
import torch.nn.functional as F
from apex import amp


class Gan(torch.nn.Module):
    def __init__(self, fp16):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if fp16:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")


class Trainer:
    def __init__(self, fp16):
        self.fp16 = fp16
        self.gan = None

    def init_gan(self):
        self.gan = Gan(self.fp16)
        return self.gan.net(torch.zeros(1, 4)).shape

    def train(self, loader):
        if self.gan is None:
            self.shape = self.init_gan()
        self.gan.train()
        for x, y in loader:
            loss = F.mse_loss(self.gan.net(x), y)
            self.gan.opt.zero_grad()
            if self.fp16:
                with amp.scale_loss(loss, self.gan.opt) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            self.gan.opt.step()


trainer = Trainer(True)
trainer.train([(torch.ones(2, 4), torch.ones(2, 1))])
