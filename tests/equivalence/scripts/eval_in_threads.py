# expect: safe
# shape: batches are scored in a pool of threads; autocast is the thread's own, so the region is in the function
# argv: --fp16
# argv:

import argparse
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn
from apex import amp


def score(model, batch):
    with torch.no_grad():
        x, y = batch
        out = model(x)
        return nn.functional.mse_loss(out, y).item()


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
torch.manual_seed(4)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
batches = [(torch.randn(6, 4).cuda(), torch.randn(6, 2).cuda()) for _ in range(3)]
for x, y in batches:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
with ThreadPoolExecutor(max_workers=1) as pool:
    for value in pool.map(lambda batch: score(model, batch), batches):
        print("%.6f" % value)
