import torch
from apex.fp16_utils import clip_grad_norm

clip_grad_norm(model.parameters(), 1.0)
