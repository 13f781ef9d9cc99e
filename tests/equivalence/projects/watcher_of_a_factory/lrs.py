class GradAware:
    def __init__(self, opt, model):
        self.opt, self.norms, self.model = opt, [], model

    def watch(self):
        self.norms.append(min(1e6, sum(p.grad.abs().sum().item() for p in self.model.parameters())))

    def after(self):
        for g in self.opt.param_groups:
            g["lr"] *= 0.5 if self.norms[-1] > 10 else 0.9
