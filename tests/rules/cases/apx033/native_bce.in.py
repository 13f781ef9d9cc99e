import torch
import torch.nn.functional as F

with torch.autocast("cuda", dtype=torch.float16):
    output = model(images)
    with torch.autocast("cuda", enabled=False):
        loss = F.binary_cross_entropy(output.float(), target)
