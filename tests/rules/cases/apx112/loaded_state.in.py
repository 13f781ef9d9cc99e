# expect: info a state that Apex's FusedAdagrad saved has no `step`
import torch
from apex.optimizers import FusedAdagrad

optimizer = FusedAdagrad(model.parameters(), lr=0.05, weight_decay=1e-4)
optimizer.load_state_dict(state["optimizer"])
