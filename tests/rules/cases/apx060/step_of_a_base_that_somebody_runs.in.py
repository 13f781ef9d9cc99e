# expect: manual scaler.step() is called before any loss was scaled
import torch
from apex import amp


class Wrapper:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def backward(self, loss):
        loss.backward()

    def step(self, closure=None):
        self.optimizer.step(closure)


class AmpWrapper(Wrapper):
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()

    def step(self, closure=None):
        self.optimizer.step(closure)


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    wrapper = AmpWrapper(optimizer) if cfg.amp else Wrapper(optimizer)
    for x in loader:
        optimizer.zero_grad()
        wrapper.backward(model(x).sum())
        wrapper.step()


if __name__ == "__main__":
    main(torch.nn.Linear(2, 2), torch.randn(3, 2))
