import torch


def make_optimizer(cfg, model):
    params = []
    for key, value in model.named_parameters():
        if not value.requires_grad:
            continue
        lr = cfg.SOLVER.BASE_LR * (2 if "bias" in key else 1)
        params += [{"params": [value], "lr": lr}]
    return torch.optim.SGD(params, momentum=0.9)
