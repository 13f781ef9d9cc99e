# expect: manual is stored in what on_begin() was handed by callers that are not known
import torch
from apex import amp


def on_begin(run):
    run.model, run.optimizer = amp.initialize(run.model, run.optimizer, opt_level="O1")
    run.amp = amp
