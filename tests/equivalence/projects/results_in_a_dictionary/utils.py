import torch


def to_cpu(obj):
    if torch.is_tensor(obj):
        return obj.detach().cpu()
    if isinstance(obj, dict):
        return {k: to_cpu(v) for k, v in obj.items()}
    return [to_cpu(v) for v in obj]


def errors(preds, y):
    pred = preds[-1].cpu()
    return int((pred.argmax(1) != y.cpu()).sum())
