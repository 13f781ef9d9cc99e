import torch
from apex import amp


def train(model, optimizer, loader):
    model, optimizer = amp.initialize(model, optimizer)  # apex2native: ignore
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:  # apex2native: ignore
            scaled_loss.backward()
        optimizer.step()
        loss = model(x).mean()
        with amp.scale_loss(loss, optimizer) as scaled_loss:  # apex2native: ignore
            scaled_loss.backward()
        optimizer.step()
