from torch.optim.lr_scheduler import LambdaLR


def get_scheduler(optimizer, warmup):
    return LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / (warmup + 1)))
