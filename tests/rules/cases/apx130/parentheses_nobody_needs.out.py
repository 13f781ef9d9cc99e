import torch.nn.functional as F

loss = F.cross_entropy(
    logits.view(-1, size).float(), labels.view(-1), ignore_index=-1, reduction="none"
).sum()
