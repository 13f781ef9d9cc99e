# expect: safe
# shape: amp itself handed to a function that saves its state
# argv: --amp
# argv:

import argparse
import io

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None


def save_checkpoint(model, optimizer, epoch, amp=None):
    state = {'arch': 'toy', 'epoch': epoch, 'state_dict': model.state_dict(), 'optimizer': optimizer.state_dict()}
    if amp is not None:
        state['amp'] = amp.state_dict()
    out = io.BytesIO()
    torch.save(state, out)
    print('saved', sorted(k for k in state if k != 'amp'))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--amp', action='store_true', default=False, help='use NVIDIA amp for mixed precision training')
    args = parser.parse_args()
    torch.manual_seed(92)
    model = nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    use_amp = False
    if args.amp and amp is not None:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
        use_amp = True
    for epoch in range(4):
        loss = model(torch.randn(2, 4).cuda()).pow(2).mean()
        optimizer.zero_grad()
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(epoch, '%.6f' % loss.item())
    save_checkpoint(model, optimizer, epoch, amp=amp if use_amp else None)


if __name__ == '__main__':
    main()
