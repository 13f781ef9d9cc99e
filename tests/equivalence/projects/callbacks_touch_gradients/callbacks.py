class Clip:
    def __init__(self, limit):
        self.limit = limit

    def after_backward(self, trainer):
        for group in trainer.optimizer.param_groups:
            for p in group["params"]:
                p.grad.clamp_(-self.limit, self.limit)


class Log:
    norms = []

    def after_backward(self, trainer):
        self.norms.append(sum(p.grad.abs().sum().item() for p in trainer.model.parameters()))
