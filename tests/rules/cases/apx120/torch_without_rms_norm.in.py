# settings: target_torch=2.1
# expect: manual torch has RMSNorm only from 2.4 on
from apex.normalization import FusedRMSNorm

norm = FusedRMSNorm(64)
