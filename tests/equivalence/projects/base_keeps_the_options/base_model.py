class BaseModel:
    def __init__(self, opt):
        self.opt = opt
        self.optimizers = []

    def set_requires_grad(self, nets, requires_grad=False):
        if not isinstance(nets, list):
            nets = [nets]
        for net in nets:
            for param in net.parameters():
                param.requires_grad = requires_grad
