import torch


def BN_convert_float(module):
    """Sets the batch norms of a module in half precision back to float32."""
    for one in module.modules():
        if isinstance(one, torch.nn.modules.batchnorm._BatchNorm) and one.affine:
            one.float()
    return module


def to_python_float(t):
    return float(t)


model = BN_convert_float(model.half())
print(to_python_float(loss))
