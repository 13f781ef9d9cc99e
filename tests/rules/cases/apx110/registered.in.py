# expect: manual FusedAdam is registered here under its own name
from apex.optimizers import FusedAdam
from mmcv.runner import OPTIMIZERS

OPTIMIZERS.register_module(FusedAdam)
