import numpy as np
import torch


def evaluate(args, model):
    model.eval()
    g = torch.Generator().manual_seed(99)
    preds, labels = [], []
    for _ in range(3):
        x = torch.randn(8, 6, generator=g)
        with torch.no_grad():
            logits = model(x)
        preds.append(logits.detach().cpu().numpy())
        labels.append(torch.randn(8, 2, generator=g).numpy())
    preds, labels = np.concatenate(preds), np.concatenate(labels)
    return float(np.linalg.norm(preds * 300))
