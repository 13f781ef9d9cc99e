# expect: manual the two arms of this guard clip differently
import torch
from apex import amp


def train(args, model, loader, fisher):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, x in enumerate(loader):
        loss = model(x).sum()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_value_(amp.master_params(optimizer), args.clip)
        else:
            loss.backward()
        if (step + 1) % args.accumulate == 0:
            if args.natural:
                for n, p in model.named_parameters():
                    p.grad *= fisher[n]
            optimizer.step()
            optimizer.zero_grad()
