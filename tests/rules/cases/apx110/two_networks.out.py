import torch

optimizer_g = torch.optim.AdamW(
    generator.parameters(), lr=args.lr, betas=(0.5, 0.999), weight_decay=0.0, fused=True
)
optimizer_d = torch.optim.AdamW(
    discriminator.parameters(), lr=args.lr, weight_decay=1e-4, fused=True
)
