import torch
from apex import amp


class Environment:
    def __init__(self):
        try:
            from apex import amp

            self.amp = True
        except ImportError:
            self.amp = False

    def precision(self):
        return "half" if self.amp else "single"


def train(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    for x in data:
        loss = model(x).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
