# expect: manual torch's Adagrad has no decay apart from the gradient
from apex.optimizers import FusedAdagrad

optimizer = FusedAdagrad(model.parameters(), lr=0.01, weight_decay=0.1, adagrad_w_mode=True)
