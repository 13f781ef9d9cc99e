# expect: safe
# shape: functions that train are handed to map, windows end outside of them; the parts of a model are cleared as it lists them

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.backbone(x)))


def main():
    torch.manual_seed(3)
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def micro(batch):
        x, y = batch
        loss = F.cross_entropy(model(x), y) / 3
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        return loss.item()

    for window in range(4):
        for part in model.children():
            part.zero_grad()
        batches = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(3)]
        losses = list(map(micro, batches))
        optimizer.step()
        print("%.5f" % sum(losses))
    print(model.head.weight)


main()
