# expect: manual what this is called with is not told here
from apex.contrib.layer_norm import FastLayerNorm

norm = FastLayerNorm(hidden_size=1024)
