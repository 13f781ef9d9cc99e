# expect: review float32 copies of half weights
# expect: review ApexAdam
import torch
from torch.optim.lr_scheduler import LambdaLR

from model import build, loader

args = parser.parse_args()
model = build()
if args.fp16:
    model.half()
groups = [
    {"params": [p for n, p in model.named_parameters() if "bias" not in n], "weight_decay": 0.01},
    {"params": [p for n, p in model.named_parameters() if "bias" in n], "weight_decay": 0.0},
]
if args.fp16:
    from apex.optimizers import FP16_Optimizer, FusedAdam

    optimizer = FusedAdam(groups, lr=args.lr, bias_correction=False, max_grad_norm=1.0)
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
    if args.loss_scale == 0:
        optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
    else:
        optimizer = FP16_Optimizer(optimizer, static_loss_scale=args.loss_scale)
else:
    optimizer = torch.optim.Adam(groups, lr=args.lr)
    scheduler = LambdaLR(optimizer, lambda epoch: 0.9**epoch)
for batch in loader:
    loss = model(batch)
    if args.fp16:
        optimizer.backward(loss)
    else:
        loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
torch.save(model.state_dict(), args.out)
