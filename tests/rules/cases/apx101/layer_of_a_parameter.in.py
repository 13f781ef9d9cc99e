def build(parallel, dim):
    return parallel.SyncBatchNorm(dim, channel_last=True)
