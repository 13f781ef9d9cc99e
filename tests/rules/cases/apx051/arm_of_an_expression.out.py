import torch


class Trainer:
    def __init__(self, model, optimizer, fp16, clip):
        self.fp16, self.clip = fp16, clip
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(fp16))
        self.model, self.optimizer = model, optimizer

    def step(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
            loss = torch.nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        params = self.model.parameters()
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(params, self.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def main(loader, fp16):
    model = build().cuda()
    trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), fp16, 1.0)
    for x, y in loader:
        trainer.step(x, y)
