from transformer_engine.pytorch.optimizers import FusedAdam, FusedSGD

optimizers = [FusedAdam(a, bias_correction=False), FusedSGD(b, lr=0.1, wd_after_momentum=True)]
