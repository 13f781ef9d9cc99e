import torch

groups = [{"params": decayed}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True)
