from apex import amp
from torch.profiler import record_function


@record_function("train_step")
def train_step(model, optimizer, x, *, clip=1.0):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    for parameter in amp.master_params(optimizer):
        parameter.grad.clamp_(-clip, clip)
    optimizer.step()
    return loss.item()
