# expect: review: an amp entry that was saved before the migration cannot be loaded as it is
# shape: amp.state_dict() and amp.load_state_dict() in the same file, resumed in the middle with a new model and optimizer

import os
import tempfile

import torch
import torch.nn as nn
from apex import amp


def build(resume=None):
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    start = 0
    if resume is not None and os.path.isfile(resume):
        checkpoint = torch.load(resume, map_location="cpu")
        start = checkpoint['step']
        model.load_state_dict(checkpoint['model'])
        optimizer.load_state_dict(checkpoint['optimizer'])
        amp.load_state_dict(checkpoint['amp'])
    return model, optimizer, start


def run(path, until):
    model, optimizer, start = build(path)
    for step in range(start, until):
        loss = nn.functional.cross_entropy(model(torch.randn(4, 4).cuda()), torch.tensor([0, 1, 1, 0]).cuda())
        if step in (1, 5):
            loss = loss * float("inf")
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        print(step, loss.item())
    torch.save({'step': until, 'model': model.state_dict(), 'optimizer': optimizer.state_dict(),
                'amp': amp.state_dict()}, path)


torch.manual_seed(91)
with tempfile.TemporaryDirectory() as folder:
    ckpt = os.path.join(folder, 'checkpoint.pt')
    run(ckpt, 4)
    run(ckpt, 8)
