import torch

model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model, group)
