# expect: manual FusedAdam is handed on here
from apex.optimizers import FusedAdam
from mmcv.runner import OPTIMIZERS

OPTIMIZERS.register_module(FusedAdam)
