import torch

torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
