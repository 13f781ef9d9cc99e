import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
