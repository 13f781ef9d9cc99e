import torch


class Tracked:
    def __setattr__(self, name, value):
        print("set", name)
        object.__setattr__(self, name, value)


class Trainer(Tracked):
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


trainer = Trainer(build())
for x, y in loader:
    trainer.step(x, y)
