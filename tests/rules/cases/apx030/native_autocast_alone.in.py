# this was apex
import torch

with torch.autocast("cuda", dtype=torch.float16):
    loss = criterion(model(x), y)
loss.backward()
optimizer.step()
