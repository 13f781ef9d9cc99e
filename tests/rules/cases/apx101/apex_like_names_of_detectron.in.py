from detectron2.layers import NaiveSyncBatchNorm as SyncBatchNorm
from mmcv.cnn.utils import revert_sync_batchnorm as convert_syncbn_model

norm = SyncBatchNorm(64)
model = convert_syncbn_model(model)
