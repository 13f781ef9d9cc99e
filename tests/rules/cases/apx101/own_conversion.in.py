from sync_batchnorm import SyncBatchNorm, convert_syncbn_model, patch_replication_callback

model = convert_syncbn_model(model)
patch_replication_callback(model)
