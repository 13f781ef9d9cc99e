# expect: manual FusedAdagrad is handed on here
from apex.optimizers import FusedAdagrad

optimizer = build_optimizer(FusedAdagrad, model.parameters())
