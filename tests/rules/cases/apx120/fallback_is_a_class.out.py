import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)

from torch.nn import LayerNorm as BertLayerNorm


norm = BertLayerNorm(768, eps=1e-12)
