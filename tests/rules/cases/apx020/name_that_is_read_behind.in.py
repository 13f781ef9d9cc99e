import torch
from apex import amp


def train(self, loader):
    model = self.model
    if self.fp16:
        model, optimizer = amp.initialize(model, self.optimizer, opt_level="O1")
        print(optimizer)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        self.optimizer.zero_grad()
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
