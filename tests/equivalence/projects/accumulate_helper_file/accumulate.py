import torch
from apex import amp


class Accumulator:
    def __init__(self, optimizer, every, max_norm):
        self.optimizer = optimizer
        self.every = every
        self.max_norm = max_norm
        self.seen = 0
        self.steps = 0

    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.seen += 1
        if self.seen % self.every == 0:
            torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), self.max_norm)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.steps += 1
