import argparse
from contextlib import suppress
import torch
import torch.nn as nn


class NativeScaler:
    state_dict_key = "amp_scaler"

    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        if clip_grad is not None:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
        self._scaler.step(optimizer)
        self._scaler.update()

    def state_dict(self):
        return self._scaler.state_dict()

    def load_state_dict(self, state_dict):
        self._scaler.load_state_dict(state_dict)


parser = argparse.ArgumentParser()
parser.add_argument('--amp', action='store_true', default=False)
parser.add_argument('--apex-amp', action='store_true', default=False)
parser.add_argument('--native-amp', action='store_true', default=False)
parser.add_argument('--clip-grad', type=float, default=None)


def train_epoch(model, loader, optimizer, loss_fn, args, amp_autocast=suppress, loss_scaler=None):
    second_order = hasattr(optimizer, 'is_second_order') and optimizer.is_second_order
    model.train()
    losses = []
    for x, y in loader:
        with amp_autocast():
            output = model(x)
            loss = loss_fn(output, y)
        losses.append(loss.item())
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=args.clip_grad, parameters=model.parameters(), create_graph=second_order)
        else:
            loss.backward(create_graph=second_order)
            if args.clip_grad is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
            optimizer.step()
    return losses


def main():
    args = parser.parse_args(['--apex-amp', '--clip-grad', '0.5'])
    use_amp = None
    if args.apex_amp:
        use_amp = 'apex'
    elif args.native_amp:
        use_amp = 'native'
    torch.manual_seed(42)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 12), nn.LayerNorm(12), nn.GELU(), nn.Linear(12, 5)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = [(torch.randn(4, 3, 4, 4).to(device), torch.randint(0, 5, (4,)).to(device)) for _ in range(4)]
    amp_autocast = suppress
    loss_scaler = None
    if use_amp in ('apex', 'native'):
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
        print('Using native Torch AMP. Training in mixed precision.')
    losses = train_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), args, amp_autocast, loss_scaler)
    ckpt = {'state_dict': model.state_dict()}
    if loss_scaler is not None:
        ckpt[loss_scaler.state_dict_key] = loss_scaler.state_dict()
        loss_scaler.load_state_dict(ckpt[loss_scaler.state_dict_key])
    losses += train_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), args, amp_autocast, loss_scaler)
    return losses, [p for p in model.parameters()]


if __name__ == "__main__":
    main()
