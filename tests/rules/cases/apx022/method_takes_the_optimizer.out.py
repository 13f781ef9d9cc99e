import torch


class Trainer:
    def __init__(self, model):
        self.model = model

    def fit(self, optimizer, scaler, loader):
        for x, y in loader:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = criterion(self.model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
trainer = Trainer(model)
trainer.fit(optimizer, scaler, load())
