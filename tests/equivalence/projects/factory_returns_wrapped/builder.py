import torch
import torch.nn as nn
from apex import amp


def build_model(cfg):
    return nn.Sequential(nn.Linear(cfg["in"], 7), nn.ReLU(), nn.Linear(7, cfg["out"]))


def build_optimizer(cfg, model):
    if cfg["optim"] == "sgd":
        return torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
    return torch.optim.Adam(model.parameters(), lr=cfg["lr"])


def build(cfg):
    model = build_model(cfg)
    optimizer = build_optimizer(cfg, model)
    if cfg["fp16"]:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    return model, optimizer
