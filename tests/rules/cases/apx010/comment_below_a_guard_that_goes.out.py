import torch


def main(args, model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    #optimizer = FusedAdam(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.apex))
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
