import weakref

import torch.nn.functional as F

from apex import amp


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")
        self.hooks, self.calls, self.losses, self.iter = [], [], [], 0

    def register(self, hooks):
        for hook in hooks:
            hook.trainer = weakref.proxy(self)
            hook.asked = weakref.ref(self)
        self.hooks = list(hooks)

    def run(self, data):
        for x, y in data:
            self.iter += 1
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
            for hook in self.hooks:
                hook.after_step()
            for call in self.calls:
                call(self)
