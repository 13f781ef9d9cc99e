# expect: review torch has no counterpart
from apex.mlp import MLP

mlp = MLP([64, 256, 64])
