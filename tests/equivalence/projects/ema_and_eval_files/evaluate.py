import torch
from apex import amp


def validate(model, data, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in data:
            with amp.disable_casts():
                out = model(x)
            total += criterion(out, y).item()
    return total / len(data)
