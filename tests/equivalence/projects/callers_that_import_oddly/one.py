import torch


def more(net, opt):
    from \
        case \
        import (  # :) step )
            step,
        )

    return [step(net, opt, torch.randn(4, 3)) for _ in range(2)]
