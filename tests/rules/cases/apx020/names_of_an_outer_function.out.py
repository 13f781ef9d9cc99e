import torch


def main(loader):
    model = optimizer = None
    scaler = torch.amp.GradScaler("cuda")

    def setup():
        nonlocal model, optimizer
        model = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    setup()
    for x, y in loader:
        step(x, y)


main([])
