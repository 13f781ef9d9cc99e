import torch
from transformers.file_utils import is_torch_tpu_available


def train(args, model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16 and args.fp16_opt_level != "O0"))
    model.zero_grad()
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = model(x).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        model.zero_grad()
    return is_torch_tpu_available()
