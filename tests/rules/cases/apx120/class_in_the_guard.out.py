import torch

class FusedLayerNorm(torch.nn.LayerNorm):
    def forward(self, x):
        with torch.cuda.device(x.device):
            return super().forward(x)


def LayerNorm(shape, eps=1e-5):
    if torch.cuda.is_available():
        return FusedLayerNorm(shape, eps)
    return torch.nn.LayerNorm(shape, eps)
