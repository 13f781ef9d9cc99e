import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def batch():
    return {"x": np.random.rand(8, 4), "y": np.arange(8) % 2}


def main():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        tensors = {name: torch.from_numpy(value) for name, value in batch().items()}
        with torch.autocast("cuda", dtype=torch.float16):
            out = model(tensors["x"])
            loss = F.cross_entropy(out, tensors["y"])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(out.float().cpu())
