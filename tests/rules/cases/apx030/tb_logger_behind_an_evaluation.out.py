import torch
from tools import TB_LOGGER, evaluate

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
with torch.autocast("cuda", dtype=torch.float16):
    found = evaluate(model, held_out)
TB_LOGGER.log_scaler_dict({f"valid/{name}": value for name, value in found.items()})
