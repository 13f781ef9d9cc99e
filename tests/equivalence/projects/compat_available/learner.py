import torch

from compat import APEX_AVAILABLE, amp


class Learner:
    def __init__(self, model, lr, mixed=True):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.mixed = mixed and APEX_AVAILABLE
        if self.mixed:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def backward(self, loss):
        if self.mixed:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
