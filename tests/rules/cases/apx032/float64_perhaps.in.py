# expect: review what a model or a loss is handed here may be float64
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def batch():
    return {"x": np.random.rand(8, 4), "y": np.arange(8) % 2}


def main():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for _ in range(3):
        tensors = {name: torch.from_numpy(value) for name, value in batch().items()}
        out = model(tensors["x"])
        loss = F.cross_entropy(out, tensors["y"])
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(out.cpu())
