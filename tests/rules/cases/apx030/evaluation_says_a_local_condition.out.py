import torch


def train(cfg):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    half = cfg.DTYPE == "float16"
    scaler = torch.amp.GradScaler("cuda", enabled=half)
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        # Step
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return model


def test(cfg, model):
    with torch.no_grad():
        for x in held_out:
            with torch.autocast("cuda", dtype=torch.float16, enabled=cfg.DTYPE == "float16"):
                print(model(x).argmax())


def main():
    cfg = read(path)
    model = train(cfg)
    test(cfg, model)


main()
