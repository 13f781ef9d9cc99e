import torch

print("16-bit training (through NVIDIA apex)")
scaler = torch.amp.GradScaler("cuda")
