import torch
from sklearn.preprocessing import StandardScaler

scaler = StandardScaler()


def train(model, optimizer, grad_scaler, loader):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(scaler.transform(x)), y)
        grad_scaler.scale(loss).backward()
        grad_scaler.step(optimizer)
        grad_scaler.update()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
grad_scaler = torch.amp.GradScaler("cuda")
train(model, optimizer, grad_scaler, load())
