# expect: info a state that Apex's FusedAdam saved keeps `step` in its groups
import torch
from apex.optimizers import FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3)
optimizer.load_state_dict(torch.load(args.resume)["optimizer"])
