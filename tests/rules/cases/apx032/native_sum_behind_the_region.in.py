import torch

with torch.autocast("cuda", dtype=torch.float16):
    logits = model(images)
energy = logits.pow(2).sum()
