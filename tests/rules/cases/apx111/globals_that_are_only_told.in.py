import torch


def settings(path):
    told = {}
    exec(open(path).read(), globals(), told)
    globals().update(told)


def build(model, fused):
    if fused:
        from apex import optimizers as apexopt
        return apexopt.FusedSGD(model.parameters(), lr=0.1)
    return torch.optim.SGD(model.parameters(), lr=0.1)
