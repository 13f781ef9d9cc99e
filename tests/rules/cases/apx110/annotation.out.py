import torch


def train(optimizer: torch.optim.AdamW) -> None:
    optimizer.step()


train(torch.optim.AdamW(model.parameters(), weight_decay=0.0, fused=True))
