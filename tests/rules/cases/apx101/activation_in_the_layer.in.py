# expect: manual a layer in channels-last shape, or with an activation in it, has no counterpart
from apex.parallel import SyncBatchNorm

norm = SyncBatchNorm(64, fuse_relu=True)
