import torch


def train(self, loader):
    model = self.model
    if self.fp16:
        optimizer = self.optimizer
        print(optimizer)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(self.fp16))
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.mse_loss(model(x), y)
        self.optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(self.optimizer)
        scaler.update()
