import torch


def more(net, opt):
    try: import fast_case
    except ImportError: import sys; from case import step
    return [step(net, opt, torch.randn(4, 3)) for _ in range(2)]
