from apex.normalization.fused_layer_norm import FusedLayerNorm as BertLayerNorm
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        # self.LayerNorm is not snake-cased to stick with TensorFlow
        self.LayerNorm = BertLayerNorm(config.hidden_size, eps=1e-12)

    def init_weights(self, module):
        if isinstance(module, (BertLayerNorm,)):
            module.bias.data.zero_()
