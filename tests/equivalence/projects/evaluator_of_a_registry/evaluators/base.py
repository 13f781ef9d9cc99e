import torch


class Evaluator:
    name = "base"

    def __init__(self, model):
        self.model = model

    def data(self):
        g = torch.Generator().manual_seed(3)
        return [torch.randn(4, 5, generator=g) for _ in range(2)]

    def run(self, epoch):
        self.model.eval()
        with torch.no_grad():
            outs = [self.forward_batch(b) for b in self.data()]
            res = self.compute(outs)
        self.model.train()
        return res

    def forward_batch(self, b):
        return self.model(b)

    def compute(self, outs):
        return torch.cat(outs).float().mean().item()
