# expect: manual a layer in channels-last shape, or with an activation in it, has no counterpart
from apex.parallel import SyncBatchNorm


def norm(dim, nhwc):
    return SyncBatchNorm(dim, channel_last=nhwc)
