import torch


class LayerNorm(torch.nn.LayerNorm):
    """In float32 whatever comes in."""

    def forward(self, x):
        return super().forward(x.float()).type_as(x)
