import torch
from lrs import GradAware


def build_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def build_scheduler(opt, model):
    return GradAware(opt, model)
