import torch

optimizer = torch.optim.SGD(
    model.parameters(), args.lr, 0.9, 0.0, args.weight_decay, True, fused=True
)
