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

for x in loader:
    target = torch.ones(4, 3)
    with torch.autocast("cuda", dtype=torch.float16):
        output = model(x)
        loss = nn.functional.mse_loss(output, target)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    flat = output.detach().flatten()
    print(
        torch.dot(flat.float(), target.flatten()),
        torch.dot(flat, flat),
        torch.dot(target[0], target[1]),
    )
