import torch


def forward_and_backward(model, optimizer, x, y):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    loss.backward()
    return loss


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = forward_and_backward(model, optimizer, x, y)
    optimizer.step()
