# expect: manual this is not how FusedAdam of Apex 25.05 is called
from apex.optimizers import FusedAdam

optimizer = FusedAdam(groups, lr=args.lr, eps_inside_sqrt=True, use_mt=False)
