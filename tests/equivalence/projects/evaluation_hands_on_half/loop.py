import torch
import torch.nn.functional as F

try:
    from apex import amp
except ImportError:
    pass


def train_epoch(args, model, optimizer, scheduler, ema, epoch):
    model.train()
    g = torch.Generator().manual_seed(epoch)
    out = []
    for i in range(4):
        x, y = torch.randn(8, 6, generator=g), torch.randn(8, 2, generator=g)
        loss = F.mse_loss(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        scheduler.step()
        model.zero_grad()
        ema.update(model)
        out.append(loss.item())
    return out
