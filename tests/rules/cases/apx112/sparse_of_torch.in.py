import torch

optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01, lr_decay=1e-3)
