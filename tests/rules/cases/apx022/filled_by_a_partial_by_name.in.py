from functools import partial

import torch
from apex import amp


def train_step(model, optimizer, batch, *, fp16):
    loss = model(batch).mean()
    optimizer.zero_grad()
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()


def main(args, loader):
    model = torch.nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    step = partial(train_step, model=model, optimizer=optimizer, fp16=args.fp16)
    for batch in loader:
        step(batch=batch)
