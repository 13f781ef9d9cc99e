import torch
from argus import Model


class SoundModel(Model):
    nn_module = {"first": First, "second": Second}
    loss = {"margin": MarginLoss}

    def __init__(self, params):
        super().__init__(params)
        self.scaler = torch.amp.GradScaler("cuda")

    def train_step(self, batch):
        self.optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            prediction = self.nn_module(batch["input"])
            loss = self.loss(prediction, batch["target"])
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()
