import cv2
import numpy as np
import torch


def score(pred, mask):
    return 2 * (pred * mask).sum() / (pred.sum() + mask.sum() + 1e-3)


def validate(net, loader, folder):
    scores = []
    with torch.no_grad():
        for image, mask, name in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                pred = torch.sigmoid(net(image))
            for i in range(len(name)):
                with torch.autocast("cuda", dtype=torch.float16):
                    scores.append(score(pred[i], mask[i]).item())
                cv2.imwrite(folder + name[i], np.moveaxis(pred[i].float().cpu().numpy(), 0, -1) * 255)
    return np.mean(scores)


def main(net, loader, folder):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for image, mask, _ in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(net(image), mask)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return validate(net, loader, folder)
