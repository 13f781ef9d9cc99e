import torch
from .base import Evaluator


class RetrievalEvaluator(Evaluator):
    name = "retrieval"

    def compute(self, outs):
        f = torch.cat(outs)
        bank = torch.ones(3, 6)
        sim = torch.matmul(f, bank.t())
        return [super().compute(outs), sim.float()]
