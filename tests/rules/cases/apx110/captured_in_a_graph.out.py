import torch

optimizer = torch.optim.AdamW(
    model.parameters(), lr=1e-3, capturable=True, weight_decay=0.0, fused=True
)
