# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.enc = nn.Linear(4, 8)
        self.act = nn.ReLU()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(self.act(self.enc(x)))


def features_of(model, x, wanted):
    found = []
    for name, module in model.named_children():
        x = module(x)
        if name in wanted:
            found.append(x)
    return found


def through(model, x):
    for layer in model.children():
        x = layer(x)
    return x


def names(model):
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear)]


def main():
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.constant_(module.bias, 0.1)
    losses = []
    for _ in range(3):
        x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        kept = features_of(model, torch.ones(2, 4), ["enc", "fc"])
        last = through(model, torch.ones(2, 4))
    return losses, [one.mean().item() for one in kept], last.float(), names(model)


if __name__ == "__main__":
    print(main())
