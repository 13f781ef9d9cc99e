import torch

try:
    from apex import amp, optimizers
    from apex.multi_tensor_apply import multi_tensor_applier

    available = True
except ImportError:
    available = False


def main(cfg, model):
    data = eval(cfg.dataset)("train", cfg)
    criterion = eval(cfg.loss)(weights=cfg.weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if cfg.apex and available:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in data:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        if cfg.apex and available:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
