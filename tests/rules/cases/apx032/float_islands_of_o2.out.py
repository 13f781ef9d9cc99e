import copy
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)

    def forward(self, x):
        q = self.q(x).float()
        score = torch.matmul(q, q.transpose(0, 1))
        return score.type_as(x)


model = Attention().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ema = copy.deepcopy(model)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
with torch.no_grad():
    print(ema(x).mean())
