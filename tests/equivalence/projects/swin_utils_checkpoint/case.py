# expect: review

import os
import tempfile

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None

from config import get_config
from utils import auto_resume_helper, get_grad_norm, load_checkpoint, save_checkpoint


def train_one_epoch(config, model, criterion, data_loader, optimizer, epoch):
    model.train()
    optimizer.zero_grad()
    norms = []
    for idx, (samples, targets) in enumerate(data_loader):
        outputs = model(samples)
        loss = criterion(outputs, targets)
        if epoch == 0 and idx == 1:
            loss = loss * 1e36
        optimizer.zero_grad()
        if config.AMP_OPT_LEVEL != "O0":
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if config.CLIP_GRAD:
                grad_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), config.CLIP_GRAD)
            else:
                grad_norm = get_grad_norm(amp.master_params(optimizer))
        else:
            loss.backward()
            if config.CLIP_GRAD:
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.CLIP_GRAD)
            else:
                grad_norm = get_grad_norm(model.parameters())
        optimizer.step()
        norms.append(0.0 if epoch == 0 and idx == 1 else float(grad_norm))
    return norms


def run(config, data):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    if config.AMP_OPT_LEVEL != "O0":
        model, optimizer = amp.initialize(model, optimizer, opt_level=config.AMP_OPT_LEVEL)
    criterion = nn.CrossEntropyLoss()
    resume = auto_resume_helper(config.OUTPUT)
    if resume:
        load_checkpoint(config, resume, model, optimizer)
    norms = []
    for epoch in range(config.START_EPOCH, config.EPOCHS):
        norms += train_one_epoch(config, model, criterion, data, optimizer, epoch)
        save_checkpoint(config, epoch, model, optimizer)
    return norms, list(model.parameters())


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
    with tempfile.TemporaryDirectory() as out:
        first = run(get_config(OUTPUT=out, EPOCHS=2), data)
        second = run(get_config(OUTPUT=out, EPOCHS=3, CLIP_GRAD=0.0), data)
    return first, second


if __name__ == "__main__":
    print(main())
