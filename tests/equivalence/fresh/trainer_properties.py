# expect: review: opt_level=self.config["amp"]["level"] is decided at run time: O0 switc

import abc
import torch
import torch.nn as nn
from torch.nn import functional as F

try:
    import apex
    from apex import amp
except ImportError:
    apex = None


class BaseTrainer(abc.ABC):
    def __init__(self, config):
        self.config = config
        self._model = None
        self._optimizer = None
        self._step = 0
        self.records = []

    @property
    def device(self):
        return torch.device("cuda" if torch.cuda.is_available() and not self.config.get("force_cpu") else "cpu")

    @property
    def use_amp(self):
        return apex is not None and self.config.get("amp", {}).get("enabled", False)

    @property
    def model(self):
        if self._model is None:
            self._model = self.build_model().to(self.device)
        return self._model

    @property
    def optimizer(self):
        if self._optimizer is None:
            self._optimizer = self.build_optimizer(self.model)
            if self.use_amp:
                self._model, self._optimizer = amp.initialize(
                    self.model, self._optimizer, opt_level=self.config["amp"]["level"], verbosity=0
                )
        return self._optimizer

    @property
    def lr(self):
        return self.optimizer.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        for group in self.optimizer.param_groups:
            group["lr"] = value

    @abc.abstractmethod
    def build_model(self):
        ...

    @abc.abstractmethod
    def build_optimizer(self, model):
        ...

    @abc.abstractmethod
    def compute_loss(self, batch):
        ...

    def backward(self, loss):
        if not self.use_amp:
            return loss.backward()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            return scaled_loss.backward()

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.compute_loss(batch)
        self.backward(loss)
        if self.config.get("clip"):
            nn.utils.clip_grad_norm_(self.model.parameters(), **self.config["clip"])
        self.optimizer.step()
        self._step += 1
        self.lr = self.config["lr"] / (1 + 0.1 * self._step)
        self.records.append((loss.item(), self.lr))


class SiameseTrainer(BaseTrainer):
    def build_model(self):
        return nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))

    def build_optimizer(self, model):
        return torch.optim.SGD(model.parameters(), lr=self.config["lr"], momentum=0.9)

    def compute_loss(self, batch):
        a, p, n = (F.normalize(self.model(t.to(self.device)), dim=1) for t in batch)
        loss = F.triplet_margin_loss(a, p, n, margin=self.config["margin"])
        return loss * (1e38 if self._step == 2 else 1)


def main():
    torch.manual_seed(8)
    trainer = SiameseTrainer({"lr": 0.05, "margin": 1.0, "amp": {"enabled": True, "level": "O1"}, "clip": {"max_norm": 0.1, "norm_type": 2}})
    trainer.optimizer
    for _ in range(5):
        trainer.step([torch.randn(4, 6) for _ in range(3)])
    return trainer.records[:2], trainer.records[3:], list(trainer.model.parameters())


if __name__ == "__main__":
    main()
