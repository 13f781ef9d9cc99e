import torch


def main(first, second, loader):
    g = torch.optim.SGD(first.parameters(), lr=0.1)
    d = torch.optim.SGD(second.parameters(), lr=0.1)
    wrapped = [first, second], [g, d]
    scaler = torch.amp.GradScaler("cuda")
    first, second = wrapped[0]
    g, d = wrapped[1]
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(second(first(x)), y)
        for one in wrapped[1]:
            one.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(g)
        scaler.step(d)
        scaler.update()
