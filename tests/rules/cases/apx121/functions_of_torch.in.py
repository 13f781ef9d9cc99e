import torch.nn.functional as F
from torch.nn.functional import layer_norm as fused_layer_norm

x = fused_layer_norm(F.rms_norm(x, (8,)), (8,))
