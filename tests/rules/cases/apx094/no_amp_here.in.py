import torch

# multi-gpu training (should be after apex fp16 initialization)
model = torch.nn.DataParallel(model)
