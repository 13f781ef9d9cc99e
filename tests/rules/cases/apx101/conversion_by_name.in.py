# expect: review Apex's conversion put every batch norm into training mode
import torch
from apex.parallel import convert_syncbn_model

if args.sync_bn:
    print("using synced BN")
    model = convert_syncbn_model(model)
