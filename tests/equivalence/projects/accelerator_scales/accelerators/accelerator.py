import torch


class Accelerator:
    def __init__(self, cfg, logger):
        self.cfg = cfg
        self.logger = logger

    def set_up(self, model, optimizer):
        raise NotImplementedError

    def backward_step(self, loss, optimizer):
        loss.backward()

    def optimizer_step(self, optimizer, model, limit):
        return float(torch.nn.utils.clip_grad_norm_(model.parameters(), limit))
