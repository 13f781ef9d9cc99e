import torch
from apex import amp


def train(cfg):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    half = cfg.DTYPE == "float16"
    level = "O1" if half else "O0"
    model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        # Step
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def test(cfg, model):
    with torch.no_grad():
        for x in held_out:
            print(model(x).argmax())


def main():
    cfg = read(path)
    model = train(cfg)
    test(cfg, model)


main()
