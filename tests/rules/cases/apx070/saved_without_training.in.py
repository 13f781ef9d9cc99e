# expect: manual stands in another file
import torch
from apex import amp


def save(model, path):
    torch.save({"model": model.state_dict(), "amp": amp.state_dict()}, path)
