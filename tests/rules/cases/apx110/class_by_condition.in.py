# expect: review this class is handed on
import torch
from apex.optimizers import FusedAdam

kind = FusedAdam if torch.cuda.is_available() else torch.optim.AdamW
optimizer = kind(model.parameters(), lr=args.lr)
