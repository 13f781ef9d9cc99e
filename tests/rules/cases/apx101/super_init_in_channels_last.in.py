# expect: manual what derives from it hands its constructor arguments that torch's has not
from apex.parallel import SyncBatchNorm


class Norm(SyncBatchNorm):
    def __init__(self, dim):
        super().__init__(dim, channel_last=True)
