import torch

optimizer = torch.optim.AdamW(
    model.parameters(),
    lr=1e-3,
    # the betas of the paper
    betas=(0.9, 0.98),
    weight_decay=0.0,
    fused=True,
)
