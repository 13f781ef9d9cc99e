import torch

optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=True)
