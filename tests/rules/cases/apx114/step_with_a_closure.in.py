# expect: manual a closure handed to step()
from apex.fp16_utils import FP16_Optimizer

optimizer = FP16_Optimizer(torch.optim.LBFGS(model.parameters()))


def closure():
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    optimizer.backward(loss)
    return loss


optimizer.step(closure)
