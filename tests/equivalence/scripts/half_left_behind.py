# expect: safe
# shape: hooks, attributes set in forward, dictionaries and a recorder keep half results that others compute with
# casts: real

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

ACTIVATIONS = []


class Recorder:
    def __init__(self):
        self.last = None

    def __call__(self, module, inputs, output):
        self.last = output.detach() * 300


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        self.features = torch.relu(self.body(x))
        return self.head(self.features)

    def energy(self):
        return (300 * self.features.detach()).pow(2).mean()


def spread():
    return torch.cat(ACTIVATIONS).norm().item()


def main():
    torch.manual_seed(23)
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    found, latest, recorder = {}, None, Recorder()

    def keep(module, inputs, output):
        nonlocal latest
        found["head"] = latest = output.detach() * 300

    model.head.register_forward_hook(keep)
    model.body.register_forward_hook(recorder)
    model.body.register_forward_hook(lambda module, inputs, output: ACTIVATIONS.append(output.detach() * 300))
    for step in range(3):
        x, y = torch.randn(8, 6).cuda(), (torch.arange(8) % 3).cuda()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        square, sums = (found["head"] ** 2).mean().item(), latest.abs().sum().item()
        print("%.3e %.3e %.3e" % (square, sums, recorder.last.pow(2).sum().item()))
        print("%.3e %.3e" % (model.energy().item(), spread()))


main()
