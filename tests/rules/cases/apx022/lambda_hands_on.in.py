import torch
from apex import amp


def loss_backwards(fp16, loss, optimizer):
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()


class Trainer:
    def __init__(self, model, fp16):
        self.model, self.fp16 = model, fp16
        self.opt = torch.optim.Adam(model.parameters())
        if fp16:
            self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")

    def train(self, loader):
        backwards = lambda loss, opt: loss_backwards(self.fp16, loss, opt)
        for x in loader:
            loss = self.model(x)
            backwards(loss / 2, self.opt)
            self.opt.step()
            self.opt.zero_grad()
