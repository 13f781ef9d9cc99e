import torch


def main(args, model, model_ema, loader):
    model = model.cuda()
    model_ema = model_ema.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.amp))
    for epoch in range(9):
        train(args, loader, model, model_ema, optimizer, scaler)


def train(args, loader, model, model_ema, optimizer, scaler):
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            with torch.no_grad():
                k = model_ema(y)
            loss = torch.nn.functional.mse_loss(model(x), k)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
