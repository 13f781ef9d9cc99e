# expect: review the clip moves under that condition and now acts once, on the sum
# expect: info the loss scale moves at another pace
import torch
from apex import amp


def train(args, model, loader, fisher):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for step, x in enumerate(loader):
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if args.clip > 0:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip)
        if (step + 1) % args.accumulate == 0:
            if args.natural:
                for n, p in model.named_parameters():
                    p.grad *= fisher[n]
            with torch.autograd.profiler.record_function("step"):
                optimizer.step()
            optimizer.zero_grad()
