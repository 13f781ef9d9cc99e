import torch

optimizer = torch.optim.Adagrad(model.parameters(), 1e-2, eps=1e-8, weight_decay=0.1)
