# expect: safe
# shape: Swin style, guard config.AMP_OPT_LEVEL != "O0", accumulation and norms in every arm
# argv: --amp-opt-level O0
# argv: --amp-opt-level O1
# argv: --accumulation-steps 2

import argparse
import torch
import torch.nn as nn

try:
    # noinspection PyUnresolvedReferences
    from apex import amp
except ImportError:
    amp = None


def get_grad_norm(parameters, norm_type=2):
    total_norm = 0
    for p in [p for p in parameters if p.grad is not None]:
        param_norm = p.grad.data.norm(norm_type)
        total_norm += param_norm.item() ** norm_type
    return total_norm ** (1. / norm_type)


def train_one_epoch(config, model, criterion, data_loader, optimizer):
    model.train()
    optimizer.zero_grad()
    for idx, (samples, targets) in enumerate(data_loader):
        samples = samples.cuda(non_blocking=True)
        targets = targets.cuda(non_blocking=True)
        outputs = model(samples)
        if config.accumulation_steps > 1:
            loss = criterion(outputs, targets)
            loss = loss / config.accumulation_steps
            if config.amp_opt_level != "O0":
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            if (idx + 1) % config.accumulation_steps == 0:
                if config.amp_opt_level != "O0":
                    grad_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.2)
                else:
                    grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.2)
                optimizer.step()
                optimizer.zero_grad()
                print("norm %.6f" % grad_norm)
        else:
            loss = criterion(outputs, targets)
            optimizer.zero_grad()
            if config.amp_opt_level != "O0":
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
                grad_norm = get_grad_norm(amp.master_params(optimizer))
            else:
                loss.backward()
                grad_norm = get_grad_norm(model.parameters())
            optimizer.step()
            print("norm %.6f" % grad_norm)
        print("loss %.6f" % loss.item())


def main(config):
    torch.manual_seed(150)
    model = nn.Sequential(nn.Linear(4, 6), nn.GELU(), nn.Linear(6, 3))
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    if config.amp_opt_level != "O0":
        model, optimizer = amp.initialize(model, optimizer, opt_level=config.amp_opt_level)
    loader = [(torch.randn(3, 4), torch.tensor([0, 1, 2])) for _ in range(6)]
    train_one_epoch(config, model, nn.CrossEntropyLoss(), loader, optimizer)


if __name__ == '__main__':
    parser = argparse.ArgumentParser('training script')
    parser.add_argument('--accumulation-steps', type=int, default=1, help="gradient accumulation steps")
    parser.add_argument('--amp-opt-level', type=str, default='O1', choices=['O0', 'O1'],
                        help='mixed precision opt level, if O0, no amp is used')
    main(parser.parse_args())
