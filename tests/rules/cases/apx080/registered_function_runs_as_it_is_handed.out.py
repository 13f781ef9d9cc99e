import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.gate(x) * torch.sigmoid((self.fc(x) + 1).float())


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(torch.sigmoid(input=model(x).float()), x.sigmoid())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
