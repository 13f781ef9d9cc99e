# expect: safe
# shape: gradients are cleared part by part, of one part before the step, of a teacher that no optimizer has

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.tanh(self.encoder(x)))


def main():
    torch.manual_seed(5)
    model, teacher = Net().cuda(), nn.Linear(4, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step in range(8):
        x, y = torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()
        out = model(x * (1e36 if step == 3 else 1))
        loss = F.cross_entropy(out, y) + F.mse_loss(out, teacher(x).detach())
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        teacher.zero_grad()
        if step < 2:
            model.encoder.zero_grad()
        if step % 2 == 0:
            optimizer.step()
            model.encoder.zero_grad()
            model.head.zero_grad()
    print(model.head.weight)


main()
