import torch.optim as optim

optimizer = optim.AdamW(
    (p for p in model.parameters() if p.requires_grad), weight_decay=0.0, fused=True
)
