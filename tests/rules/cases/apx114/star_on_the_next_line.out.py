import torch


class ToHalf(torch.nn.Module):
    """Casts what a model in half precision is called with."""

    def forward(self, input):
        return input.half()


def network_to_half(network):
    """A model in half precision but for its batch norms, behind a cast of its input, as apex.fp16_utils made it."""
    network = network.half()
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.affine:
            module.float()
    return torch.nn.Sequential(ToHalf(), network)


def made(net):
    return network_to_half(net)
