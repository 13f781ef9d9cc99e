from apex import amp


class BaseModel:
    def __init__(self, opt):
        self.opt = opt
        self.optimizers = {}

    def setup_amp(self):
        if self.opt.fp16:
            [self.G, self.D], [self.optimizers["G"], self.optimizers["D"]] = amp.initialize(
                [self.G, self.D], [self.optimizers["G"], self.optimizers["D"]], opt_level="O1", num_losses=2)

    def zero_grad(self):
        for optimizer in self.optimizers.values():
            optimizer.zero_grad()
