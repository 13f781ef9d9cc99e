# expect: manual apex.contrib.multihead_attn.SelfMultiheadAttn has no counterpart
from apex.contrib.multihead_attn import SelfMultiheadAttn

attention = SelfMultiheadAttn(64, 8, dropout=0.1, impl="fast")
