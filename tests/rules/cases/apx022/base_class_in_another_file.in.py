# expect: manual
import torch
from apex import amp
from base import BaseTrainer


class Trainer(BaseTrainer):
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
