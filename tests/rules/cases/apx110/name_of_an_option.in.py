import torch

if args.optimizer == "FusedAdam":
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
