import torch


class LARC(torch.optim.Optimizer):
    def step(self):
        pass


optimizer = LARC(params)
