from torch.optim import AdamW as Adam
from torch.nn import LayerNorm
