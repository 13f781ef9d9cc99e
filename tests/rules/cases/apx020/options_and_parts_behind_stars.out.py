import torch

KIND = {"loss_scale": "dynamic", "verbosity": 0}


def main(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = (model, optimizer)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        pack = (loss, optimizer)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


main([])
