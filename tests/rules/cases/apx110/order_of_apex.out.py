import torch

optimizer = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.98), 1e-6, 0.01, fused=True)
