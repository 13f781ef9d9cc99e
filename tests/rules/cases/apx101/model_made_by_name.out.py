import torch
from models import *


def main(args, loader):
    model = eval(args.model)(classes=args.classes).cuda()
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    for x in loader:
        model(x)
