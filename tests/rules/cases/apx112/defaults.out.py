import torch

optimizer = torch.optim.Adagrad(model.parameters())
