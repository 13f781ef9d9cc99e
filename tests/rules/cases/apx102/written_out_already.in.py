import torch


class LARC:
    """As apex.parallel had it."""

    def __init__(self, optimizer, trust_coefficient=0.02, clip=True, eps=1e-8):
        self.optim = optimizer

    def step(self):
        self.optim.step()


optimizer = LARC(torch.optim.SGD(model.parameters(), 0.1), 0.001, clip=False)
