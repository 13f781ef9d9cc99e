# expect: manual through a lambda
import torch
from apex import amp


def loss_backwards(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()


class Trainer:
    def __init__(self, model):
        self.opt = torch.optim.Adam(model.parameters())
        self.model, self.opt = amp.initialize(model, self.opt, opt_level="O1")
        self.backwards = lambda loss, opt: loss_backwards(loss, opt)

    def train(self, loader):
        for x in loader:
            loss = self.model(x)
            self.backwards(loss, self.opt)
            self.opt.step()
            self.opt.zero_grad()
