import torch


class Environment:
    def __init__(self):
        try:
            from apex import amp

            self.amp = True
        except ImportError:
            self.amp = False


def train(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in data:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
