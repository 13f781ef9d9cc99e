import importlib
import torch


class Trainer:
    def __init__(self, model, args):
        self.args = args
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model = model
        if args.fp16:
            self.amp = importlib.import_module('apex.amp')
            self.model, self.optimizer = self.amp.initialize(self.model, self.optimizer, opt_level='O1')

    def train(self, loader):
        for x in loader:
            loss = self.model(x).sum()
            self.optimizer.zero_grad()
            if self.args.fp16:
                with self.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
