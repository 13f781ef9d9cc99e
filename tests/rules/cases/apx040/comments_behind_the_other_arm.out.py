import torch


def train(args, model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args["fp16"]))
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()

        print(loss.item())
        scaler.step(optimizer)
        scaler.update()
        model.zero_grad()


model = torch.nn.Linear(3, 2).cuda()
train({"fp16": True}, model, torch.optim.SGD(model.parameters(), lr=0.1), [])
