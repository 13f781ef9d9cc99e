# expect: manual no call of the model was found that leads to it
import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model.cuda(), optimizer, opt_level="O1")
        self.criterion = torch.nn.CrossEntropyLoss()

    def forward_pass(self, x, y):
        self.optimizer.zero_grad()
        self.criterion(self.model(2 * x), y).backward()
        loss = 0
        loss += self.criterion(self.model(x), y)
        return loss

    def train(self, loader):
        for x, y in loader:
            loss = self.forward_pass(x, y)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()


net = torch.nn.Linear(4, 4)
Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1)).train(batches())
