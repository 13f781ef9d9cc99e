import torch

optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.0, fused=True)
print(checkpoint["step"], optimizer.state[p]["step"])
