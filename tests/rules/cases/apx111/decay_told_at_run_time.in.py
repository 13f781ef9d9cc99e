# expect: manual torch's SGD has no decay behind the momentum
from apex.optimizers import FusedSGD

optimizer = FusedSGD(model.parameters(), lr=0.1, momentum=0.9, wd_after_momentum=args.after)
