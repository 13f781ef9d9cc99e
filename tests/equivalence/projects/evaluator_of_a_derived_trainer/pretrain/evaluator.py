import torch


class SingleEvaluator(object):
    def __init__(self, trainer, params):
        self.trainer, self.params = trainer, params
        self.model = trainer.model

    def run_all_evals(self):
        self.model.eval()
        with torch.no_grad():
            x, y = self.trainer.get_batch(0)
            tensor = self.model('fwd', x=x)
            word_scores, loss = self.model('predict', tensor=tensor, y=y)
            return loss.item(), (word_scores.max(1)[1] == y).float().mean().item()
