# expect: review float32 copies of half weights
import torch
from apex.fp16_utils import FP16_Optimizer

from model import build, loader


def main(args):
    model = build().half()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    optimizer = FP16_Optimizer(
        optimizer,
        static_loss_scale=args.static_loss_scale,
        dynamic_loss_scale=args.dynamic_loss_scale,
        dynamic_loss_args={"init_scale": 2 ** 16},
    )
    if args.resume:
        optimizer.load_state_dict(torch.load(args.resume))
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x).float(), y)
        optimizer.backward(loss, update_master_grads=False)
        optimizer.update_master_grads()
        optimizer.clip_master_grads(args.clip)
        optimizer.step()
        if not optimizer.overflow:
            optimizer.param_groups[0]["lr"] *= 0.99
    torch.save(optimizer.state_dict(), args.out)
