# expect: manual a closure handed to step()
import torch
from apex.fp16_utils import FP16_Optimizer

optimizer = FP16_Optimizer(torch.optim.LBFGS(model.parameters()), static_loss_scale=128.0)
for x, y in loader:

    def closure():
        return criterion(model(x), y)

    optimizer.step(closure=closure)
