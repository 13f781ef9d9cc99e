import torch


def main(first, second, loader):
    g = torch.optim.SGD(first.parameters(), lr=0.1)
    d = torch.optim.SGD(second.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(second(first(x)), y)
        g.zero_grad()
        d.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(g)
        scaler.step(d)
        scaler.update()
