# expect: safe
# casts: real

import torch
import torch.nn as nn

from apex import amp

from layers import Pool, nms


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.pool = Pool(2)
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(self.pool(self.conv(x)).flatten(1))


def main():
    torch.manual_seed(3)
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for _ in range(4):
        logits = model(torch.randn(2, 1, 6, 6).cuda())
        loss = nn.functional.cross_entropy(logits, torch.tensor([1, 2]).cuda())
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        out.append(round(float(nms(logits.detach(), 0.5)), 3))
    return out


if __name__ == "__main__":
    print(main())
