import torch


@torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
def iou(boxes, others):
    return overlap(boxes, others)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = iou(model(x), y).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
