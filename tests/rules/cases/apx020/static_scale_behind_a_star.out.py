import torch

KIND = dict(loss_scale=128.0, verbosity=0)


def main(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=128.0)
    scaler.set_growth_factor(1.0)  # a static loss scale
    scaler.set_backoff_factor(1.0)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


main([])
