import torch

if args.sync_bn:
    print("using synced BN")
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
