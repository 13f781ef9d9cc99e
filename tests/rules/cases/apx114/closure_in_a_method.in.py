# expect: manual a closure handed to step()
import torch
from apex.optimizers import FP16_Optimizer


class Engine:
    def __init__(self, model):
        self.optimizer = FP16_Optimizer(torch.optim.LBFGS(model.parameters()), static_loss_scale=128.0)

    def step(self, closure):
        return self.optimizer.step(closure)
