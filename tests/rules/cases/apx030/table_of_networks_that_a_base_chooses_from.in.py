import torch
from apex import amp
from argus import Model


class SoundModel(Model):
    nn_module = {"first": First, "second": Second}
    loss = {"margin": MarginLoss}

    def __init__(self, params):
        super().__init__(params)
        self.nn_module, self.optimizer = amp.initialize(self.nn_module, self.optimizer, opt_level="O1")

    def train_step(self, batch):
        self.optimizer.zero_grad()
        prediction = self.nn_module(batch["input"])
        loss = self.loss(prediction, batch["target"])
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        return loss.item()
