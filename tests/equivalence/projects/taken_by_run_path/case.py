# expect: manual

import pathlib
import runpy
import torch
import torch.nn.functional as F


def main():
    space = runpy.run_path(str(pathlib.Path(__file__).parent / "train.py"), init_globals={"STEPS": 5})
    model, optimizer = space["model"], space["optimizer"]
    for _ in range(3):
        loss = F.cross_entropy(model(torch.randn(4, 5)), torch.randint(0, 3, (4,)))
        optimizer.zero_grad()
        space["backward"](loss, optimizer)
        optimizer.step()
        space["losses"].append(loss.item())
    return space["losses"], list(model.parameters())
