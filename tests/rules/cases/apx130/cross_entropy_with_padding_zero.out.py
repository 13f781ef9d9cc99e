import torch.nn.functional as F

losses = F.cross_entropy(logits.float(), labels, ignore_index=0, reduction="none")
