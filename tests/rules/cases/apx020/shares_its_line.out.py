import torch
import torch.nn.functional as F


def main(loader):
    model = torch.nn.Linear(4, 2); optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda"); losses = []
    for images, labels in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer); scaler.update(); losses.append(loss.item()); print("a line of several statements that is longer than any")
    return losses
