import torch


def bank_of(net, data):
    found = []
    for x, _ in data:
        with torch.no_grad():
            found.append(net.features(x).float().mean())
    return torch.stack(found)


def ensemble(nets, x):
    with torch.no_grad():
        return torch.stack([net(x).float() for net in nets.values()]).mean(0)
