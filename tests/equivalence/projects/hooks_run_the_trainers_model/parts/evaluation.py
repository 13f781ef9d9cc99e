import torch


@torch.no_grad()
def evaluate(network, data):
    return sum(network(x).float().mean().item() for x, _ in data)
