import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument(
    "--fp16",
    action="store_true",
    help="Whether to use 16-bit (mixed) precision instead of 32-bit"
    " floats",
)
args = parser.parse_args()
model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)
# wrapped
model = torch.nn.DataParallel(model)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
