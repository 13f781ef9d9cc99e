import torch
from apex import amp


def update(self, loss):
    self.optimizer.zero_grad()
    with amp.scale_loss(loss, self.optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 0.05)
    self.optimizer.step()
