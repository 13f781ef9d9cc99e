import torch

with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
    logits = model(images)
np.save("logits.npy", logits.float().cpu().numpy())
