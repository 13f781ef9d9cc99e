import torch


def settings(path):
    told = {}
    exec(open(path).read(), globals(), told)
    globals().update(told)


def build(model, fused):
    if fused:
        return torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    return torch.optim.SGD(model.parameters(), lr=0.1)
