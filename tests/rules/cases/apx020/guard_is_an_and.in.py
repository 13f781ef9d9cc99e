# expect: manual
import torch
from apex import amp


class Trainer:
    def __init__(self, args):
        self.model = build().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        args.fp16 and amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.fp16 = args.fp16

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = criterion(self.model(x), y)
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
