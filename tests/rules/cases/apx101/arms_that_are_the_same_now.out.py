import torch
import torch.nn as nn


def main(model, args, log):
    if args.sync_bn:
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
        log.info("converted")
    if args.other():
        other = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    else:
        other = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if args.third:
        third = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    else:
        third = nn.SyncBatchNorm.convert_sync_batchnorm(other)
    return model, other, third
