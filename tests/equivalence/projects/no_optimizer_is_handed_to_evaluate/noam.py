class NoamOpt:
    def __init__(self, size, factor, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.warmup, self.factor, self.size = warmup, factor, size

    def step(self):
        self._step += 1
        rate = self.factor * (self.size ** (-0.5) * min(self._step ** (-0.5), self._step * self.warmup ** (-1.5)))
        for p in self.optimizer.param_groups:
            p["lr"] = rate
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
