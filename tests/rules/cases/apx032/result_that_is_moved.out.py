import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")


def predict(loader):
    with torch.autocast("cuda", dtype=torch.float16):
        return [torch.sigmoid(model(x)).detach().float().cpu().numpy() for x in loader]


for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(x).to(device, dtype=torch.float)
        loss = nn.functional.mse_loss(logits, y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
