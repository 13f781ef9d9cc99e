import modeling
import torch

modeling.LayerNorm = torch.nn.LayerNorm
