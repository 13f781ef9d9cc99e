import torch


class ClipCallback:
    def __init__(self, norm):
        self.norm = norm
        self.seen = []

    def on_after_backward(self, trainer):
        total = torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), self.norm)
        self.seen.append(float(total))
