import torch


def backward(loss, optimizer, scaler):
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(
        (p for group in optimizer.param_groups for p in group["params"]),
        args.max_norm * scaler.get_scale(),
    )


def train():
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for batches in loader:
        for x, y in batches:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            backward(loss, optimizer, scaler)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


train()
