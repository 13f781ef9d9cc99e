import torch.nn.functional as F

from apex import amp


class Runner:
    def __init__(self, model, optimizer, watch):
        self.model, self.optimizer, self.watch = model, optimizer, watch
        self.hooks = []
        self.losses = []
        watch.watch(model)

    def register(self, *hooks):
        self.hooks.extend(hooks)

    def call_hook(self, name):
        for hook in self.hooks:
            if hasattr(hook, name):
                getattr(hook, name)(self)

    def run(self, data, epochs):
        for _ in range(epochs):
            for x, y in data:
                loss = F.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
                self.call_hook("after_backward")
                self.watch.log()
                self.optimizer.step()
                self.losses.append(loss.item())
            self.call_hook("after_epoch")
