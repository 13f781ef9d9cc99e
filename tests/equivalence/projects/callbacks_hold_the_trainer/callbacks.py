import torch
from apex import amp
from loop import Callback


class BackwardCallback(Callback):
    def __init__(self, opt_level, clip):
        self.opt_level, self.clip = opt_level, clip

    def on_train_begin(self):
        self.trainer.model, self.trainer.optimizer = amp.initialize(
            self.trainer.model, self.trainer.optimizer, opt_level="O1"
        )

    def on_batch_end(self):
        self.trainer.optimizer.zero_grad()
        with amp.scale_loss(self.trainer.loss, self.trainer.optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(self.trainer.optimizer), self.clip)
        self.trainer.optimizer.step()


class Recorder(Callback):
    def on_batch_end(self):
        self.trainer.history.append(self.trainer.loss.item())
