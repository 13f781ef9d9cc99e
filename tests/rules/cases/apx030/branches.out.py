import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    # two ways to the output
    with torch.autocast("cuda", dtype=torch.float16):
        if args.aux:
            output, aux = model(x)
            loss = criterion(output, y) + 0.4 * criterion(aux, y)
        else:
            loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
