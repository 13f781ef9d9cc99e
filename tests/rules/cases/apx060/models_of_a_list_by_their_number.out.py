import torch


def train(nets, opts, loader):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        for k in range(2):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nets[k](x).sum()
            opts[k].zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opts[k])
            scaler.update()
