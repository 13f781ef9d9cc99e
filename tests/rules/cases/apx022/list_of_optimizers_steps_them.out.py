import torch


class Optimizers(list):
    def zero_grad(self):
        for o in self:
            o.zero_grad()

    def step(self, scaler):
        for o in self:
            scaler.step(o)
        scaler.update()


model = build().cuda()
dense = torch.optim.AdamW(model.dense.parameters(), lr=0.1)
sparse = torch.optim.Adagrad(model.embedding.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
optimizers = Optimizers([dense, sparse])
for x, y in loader:
    optimizers.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
    for o in optimizers:
        torch.nn.utils.clip_grad_norm_(
            (p for group in o.param_groups for p in group["params"]), 1.0
        )
    optimizers.step(scaler=scaler)
