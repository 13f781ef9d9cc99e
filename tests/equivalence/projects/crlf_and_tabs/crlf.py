import torch
from apex import amp


def check(model, losses):
    # überprüfen: Umlaute
    state = {'amp': amp.state_dict(), 'losses': losses}
    with torch.no_grad():
        y = model(torch.ones(1, 3))
    return float(y.sum()), len(state)
