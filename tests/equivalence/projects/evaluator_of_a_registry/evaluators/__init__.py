from .base import Evaluator
from .retrieval import RetrievalEvaluator

EVALUATORS = {cls.name: cls for cls in (Evaluator, RetrievalEvaluator)}


def build_evaluator(name, *args, **kw):
    return EVALUATORS[name](*args, **kw)
