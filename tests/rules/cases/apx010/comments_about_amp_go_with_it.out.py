import torch
from torch.nn.functional import cross_entropy


def train(args, model, optimizer, loader):
    # How often to tell, also with fp16.
    every = 10
    # Initialize Amp.
    scaler = torch.amp.GradScaler("cuda")

    # ---------------- training with amp
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = cross_entropy(model(x), y)
        # Apex wants this form.
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    print(every)
