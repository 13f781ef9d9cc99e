import torch


class Wrapper:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def backward(self, loss):
        loss.backward()

    def step(self, closure=None):
        self.optimizer.step(closure)


class AmpWrapper(Wrapper):
    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self, closure=None):
        self.scaler.step(self.optimizer)
        self.scaler.update()


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    wrapper = AmpWrapper(optimizer)
    for x in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).sum()
        wrapper.backward(loss)
        wrapper.step()


if __name__ == "__main__":
    main(torch.nn.Linear(2, 2), torch.randn(3, 2))
