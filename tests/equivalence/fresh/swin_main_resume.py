# expect: review: a checkpoint written by the legacy code holds Apex's state and will no

# Swin-Transformer main.py: accumulation, clip, get_grad_norm, auto-resume with amp state
import os
import tempfile
import torch
import torch.nn as nn

try:
    # noinspection PyUnresolvedReferences
    from apex import amp
except ImportError:
    amp = None


class Node:
    def __init__(self, **kw):
        self.__dict__.update(kw)


def get_config(**over):
    config = Node(AMP_OPT_LEVEL="O1", OUTPUT="", TRAIN=Node(EPOCHS=2, ACCUMULATION_STEPS=2, CLIP_GRAD=5.0, AUTO_RESUME=True, START_EPOCH=0))
    for k, v in over.items():
        setattr(config, k, v)
    return config


def get_grad_norm(parameters, norm_type=2):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    parameters = list(filter(lambda p: p.grad is not None, parameters))
    norm_type = float(norm_type)
    total_norm = 0
    for p in parameters:
        param_norm = p.grad.data.norm(norm_type)
        total_norm += param_norm.item() ** norm_type
    return total_norm ** (1. / norm_type)


def save_checkpoint(config, epoch, model, optimizer, lr_scheduler):
    save_state = {'model': model.state_dict(), 'optimizer': optimizer.state_dict(),
                  'lr_scheduler': lr_scheduler.state_dict(), 'epoch': epoch}
    if config.AMP_OPT_LEVEL != "O0":
        save_state['amp'] = amp.state_dict()
    torch.save(save_state, os.path.join(config.OUTPUT, f'ckpt_epoch_{epoch}.pth'))


def load_checkpoint(config, path, model, optimizer, lr_scheduler):
    checkpoint = torch.load(path, map_location='cpu')
    model.load_state_dict(checkpoint['model'], strict=False)
    optimizer.load_state_dict(checkpoint['optimizer'])
    lr_scheduler.load_state_dict(checkpoint['lr_scheduler'])
    config.TRAIN.START_EPOCH = checkpoint['epoch'] + 1
    if 'amp' in checkpoint and config.AMP_OPT_LEVEL != "O0":
        amp.load_state_dict(checkpoint['amp'])


def train_one_epoch(config, model, criterion, data_loader, optimizer, epoch, lr_scheduler):
    model.train()
    optimizer.zero_grad()
    norms = []
    for idx, (samples, targets) in enumerate(data_loader):
        outputs = model(samples)
        loss = criterion(outputs, targets)
        if config.TRAIN.ACCUMULATION_STEPS > 1:
            loss = loss / config.TRAIN.ACCUMULATION_STEPS
        if epoch == 0 and idx == 1:
            loss = loss * 1e36
        if config.AMP_OPT_LEVEL != "O0":
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            if config.TRAIN.CLIP_GRAD:
                grad_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), config.TRAIN.CLIP_GRAD)
            else:
                grad_norm = get_grad_norm(amp.master_params(optimizer))
        else:
            loss.backward()
            if config.TRAIN.CLIP_GRAD:
                grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.TRAIN.CLIP_GRAD)
            else:
                grad_norm = get_grad_norm(model.parameters())
        if (idx + 1) % config.TRAIN.ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
            lr_scheduler.step()
        norms.append(float(grad_norm) if grad_norm == grad_norm and epoch else 0.0)
    return norms


def run(config, data):
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Flatten(), nn.Linear(27, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), eps=1e-8, betas=(0.9, 0.999), lr=5e-3, weight_decay=0.05)
    if config.AMP_OPT_LEVEL != "O0":
        model, optimizer = amp.initialize(model, optimizer, opt_level=config.AMP_OPT_LEVEL)
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
    criterion = torch.nn.CrossEntropyLoss()
    ckpts = sorted(f for f in os.listdir(config.OUTPUT) if f.endswith('pth'))
    if config.TRAIN.AUTO_RESUME and ckpts:
        load_checkpoint(config, os.path.join(config.OUTPUT, ckpts[-1]), model, optimizer, lr_scheduler)
    norms = []
    for epoch in range(config.TRAIN.START_EPOCH, config.TRAIN.EPOCHS):
        norms += train_one_epoch(config, model, criterion, data, optimizer, epoch, lr_scheduler)
        save_checkpoint(config, epoch, model, optimizer, lr_scheduler)
    return norms, [p for p in model.parameters()], amp.state_dict()['loss_scaler0']['loss_scale']


def main():
    torch.manual_seed(0)
    data = [(torch.randn(4, 3, 3, 3), torch.randint(0, 3, (4,))) for _ in range(4)]
    with tempfile.TemporaryDirectory() as out:
        first = run(get_config(OUTPUT=out), data)
        config = get_config(OUTPUT=out)
        config.TRAIN.EPOCHS = 3
        second = run(config, data)
    return first, second


if __name__ == "__main__":
    main()
