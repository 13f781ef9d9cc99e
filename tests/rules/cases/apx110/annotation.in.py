import torch
from apex.optimizers import FusedAdam


def train(optimizer: FusedAdam) -> None:
    optimizer.step()


train(FusedAdam(model.parameters()))
