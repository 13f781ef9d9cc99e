import torch


class Plain:
    def update(self, model, optimizer, scaler, loss):
        loss.backward()
        optimizer.step()


class Mixed:
    def update(self, model, optimizer, scaler, loss):
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
strategy = Mixed() if args.fp16 else Plain()
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        loss = criterion(model(x), y)
    strategy.update(model, optimizer, scaler, loss)
