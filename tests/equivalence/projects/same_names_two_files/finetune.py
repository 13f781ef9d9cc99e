import torch
import torch.nn as nn
from apex import amp

from common import make_data
from pretrain import main as pretrain_main


def train(model, head, optimizer, data, clip):
    out = []
    for x, y in data:
        loss = nn.functional.cross_entropy(head(model(x)), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
        optimizer.step()
        out.append(loss.item())
    return out


def main(model):
    head = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()), lr=0.01)
    [model, head], optimizer = amp.initialize([model, head], optimizer, opt_level="O1")
    return train(model, head, optimizer, make_data(4), 1.0)
