import torch
from options import flip_back

model = build().cuda()
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
with torch.no_grad():
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            outputs = model(x)
        output = outputs[-1] if isinstance(outputs, list) else outputs
        if args.flip:
            with torch.autocast("cuda", dtype=torch.float16):
                flipped = model(x.flip(3))
            flipped = flipped[-1] if isinstance(flipped, list) else flipped
            back = torch.from_numpy(flip_back(flipped.float().cpu().numpy()))
            output = (output + back) * 0.5
        with torch.autocast("cuda", dtype=torch.float16):
            loss = criterion(output, y)
        losses.append(loss.item())
