import torch
from torch.nn.utils import clip_grad_norm_
from .net import TransformerModel
from .trainer import SingleTrainer
from .evaluator import SingleEvaluator


def run(params):
    torch.manual_seed(0)
    model = TransformerModel()
    trainer = SingleTrainer(model, params)
    evaluator = SingleEvaluator(trainer, params)
    scores = []
    for _ in range(2):
        trainer.n_sentences = 0
        while trainer.n_sentences < params.steps * 2:
            trainer.mlm_step(params.lambda_mlm)
            trainer.iter()
        scores.append(evaluator.run_all_evals())
    return trainer.stats['MLM'], scores, len(trainer.saved), [p.sum() for p in model.parameters()]
