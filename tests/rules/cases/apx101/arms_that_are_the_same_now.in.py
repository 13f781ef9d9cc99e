# expect: review Apex's conversion put every batch norm into training mode
import torch
import torch.nn as nn
from apex.parallel import convert_syncbn_model


def main(model, args, log):
    if args.sync_bn:
        if args.amp != "native":
            # Apex's is preferred unless native amp is on
            model = convert_syncbn_model(model)
        else:
            model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
        log.info("converted")
    if args.other():
        other = convert_syncbn_model(model)
    else:
        other = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if args.third:
        third = convert_syncbn_model(model)
    else:
        third = nn.SyncBatchNorm.convert_sync_batchnorm(other)
    return model, other, third
