import torch
from apex import amp


class BaseTrainer:
    def __init__(self, model, optimizer, config):
        self.config = config
        self.device = torch.device("cpu")
        self.model = model.to(self.device)
        self.optimizer = optimizer
        self.fp16 = config.get("fp16", True)
        if self.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")
        self.epochs = config["epochs"]
        self.log = []

    def _train_epoch(self, epoch):
        raise NotImplementedError

    def train(self):
        for epoch in range(self.epochs):
            result = self._train_epoch(epoch)
            self.log.append(result)
        return self.log
