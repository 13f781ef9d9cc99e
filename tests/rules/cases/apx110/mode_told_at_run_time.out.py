import torch

optimizer = (torch.optim.AdamW if args.adamw else torch.optim.Adam)(
    groups, lr=args.lr, weight_decay=args.wd, fused=True
)
