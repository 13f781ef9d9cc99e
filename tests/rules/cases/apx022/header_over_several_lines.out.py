import torch


def train(
    model,
    optimizer,  # already initialized
    scaler,
    loader,
):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
train(
    model,
    optimizer,  # the one above
    scaler,
    load(),
)
