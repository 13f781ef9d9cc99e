import torch


class Pool(torch.nn.Module):
    @torch.cuda.amp.custom_fwd(cast_inputs=torch.float16)
    def forward(self, features):
        return pool(features)


model = torch.nn.Sequential(build(), Pool()).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
