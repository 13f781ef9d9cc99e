from inplace_abn import InPlaceABNSync as SyncBatchNorm

norm = SyncBatchNorm(64, activation="relu")
