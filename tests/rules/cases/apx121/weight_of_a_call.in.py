# expect: manual what this is called with is not told here
from apex.contrib.layer_norm.layer_norm import FastLayerNormFN

x = FastLayerNormFN.apply(x, scaled(weight), bias, 1e-5)
