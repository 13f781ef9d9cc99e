import torch


def main(cfg, model):
    data = eval(cfg.dataset)("train", cfg)
    criterion = eval(cfg.loss)(weights=cfg.weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(cfg.apex))
    for x, y in data:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = criterion(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
