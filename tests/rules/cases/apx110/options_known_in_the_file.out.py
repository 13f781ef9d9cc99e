import torch

options = dict(lr=args.lr, betas=(0.9, 0.95))
if args.weight_decay:
    options["weight_decay"] = args.weight_decay
optimizer = torch.optim.AdamW(model.parameters(), fused=True, **{"weight_decay": 0.0, **options})
