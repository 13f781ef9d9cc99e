from apex.optimizers import FusedAdagrad

optimizer = FusedAdagrad(model.parameters())
