# expect: review results leave autocast in float16
import torch
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")


def predict(loader):
    return [torch.sigmoid(model(x)).detach().cpu().numpy() for x in loader]


for x, y in loader:
    logits = model(x).to(device, dtype=torch.float)
    loss = nn.functional.mse_loss(logits, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
