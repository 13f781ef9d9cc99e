# bug: super().__init__(…, channel_last=True) is handed to torch's class
# expect: manual channels-last
from apex.parallel import SyncBatchNorm


class Norm(SyncBatchNorm):
    def __init__(self, dim):
        super().__init__(dim, channel_last=True)
