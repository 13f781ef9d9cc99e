import torch


class Attack:
    def __init__(self, model):
        self.model, self.kept = model, {}

    def go(self, epsilon=1.0):
        for name, p in self.model.named_parameters():
            if p.grad is not None:
                self.kept[name] = p.data.clone()
                norm = (p.grad / scaler.get_scale()).norm()
                if norm < 5.0:
                    p.data.add_(epsilon * (p.grad / scaler.get_scale()) / norm)

    def back(self):
        for name, p in self.model.named_parameters():
            p.data = self.kept.get(name, p.data)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
attack = Attack(model)
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    attack.go()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    attack.back()
    scaler.step(optimizer)
    scaler.update()
