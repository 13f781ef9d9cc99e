import cv2
import numpy as np
import torch
from apex import amp


def score(pred, mask):
    return 2 * (pred * mask).sum() / (pred.sum() + mask.sum() + 1e-3)


def validate(net, loader, folder):
    scores = []
    with torch.no_grad():
        for image, mask, name in loader:
            pred = torch.sigmoid(net(image))
            for i in range(len(name)):
                scores.append(score(pred[i], mask[i]).item())
                cv2.imwrite(folder + name[i], np.moveaxis(pred[i].float().cpu().numpy(), 0, -1) * 255)
    return np.mean(scores)


def main(net, loader, folder):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for image, mask, _ in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(image), mask)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    return validate(net, loader, folder)
