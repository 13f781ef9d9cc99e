import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument(
    '--level',
    default='O1',
    choices=['O0', 'O1'],
    help='O0 switches mixed precision off, any other level on',
)
args = parser.parse_args()
model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=args.level != "O0")
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
