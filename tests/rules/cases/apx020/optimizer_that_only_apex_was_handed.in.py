# expect: review O2 kept float16 weights
# rule: APX011
import torch
from apex import amp


def main(args, model, model_ema, loader):
    model = model.cuda()
    model_ema = model_ema.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
        if args.moco:
            optimizer_ema = torch.optim.SGD(model_ema.parameters(), lr=0)
            model_ema, optimizer_ema = amp.initialize(model_ema, optimizer_ema, opt_level="O2")
    for epoch in range(9):
        train(args, loader, model, model_ema, optimizer)


def train(args, loader, model, model_ema, optimizer):
    for x, y in loader:
        with torch.no_grad():
            k = model_ema(y)
        loss = torch.nn.functional.mse_loss(model(x), k)
        optimizer.zero_grad()
        if args.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
