import torch
from packaging import version

# Check if Pytorch version >= 1.6 to switch between Native AMP and none
if version.parse(torch.__version__) < version.parse("1.6"):
    native = False
else:
    native = True
