# expect: review: a checkpoint written by the legacy code holds Apex's state and will no

# timm's train.py of 2020 cut down: ApexScaler / NativeScaler behind one call
import argparse
from contextlib import suppress
import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    amp = None
    has_apex = False
has_native_amp = False
try:
    if getattr(torch.cuda.amp, 'autocast') is not None:
        has_native_amp = True
except AttributeError:
    pass


class ApexScaler:
    state_dict_key = "amp"

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward(create_graph=create_graph)
        if clip_grad is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
        optimizer.step()

    def state_dict(self):
        if 'state_dict' in amp.__dict__:
            return amp.state_dict()

    def load_state_dict(self, state_dict):
        if 'load_state_dict' in amp.__dict__:
            amp.load_state_dict(state_dict)


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
    if args.amp:
        if has_native_amp:
            args.native_amp = True
        elif has_apex:
            args.apex_amp = True
torch.manual_seed(141)
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2", keep_batchnorm_fp32="True",
                                  loss_scale=128.0, cast_model_outputs=torch.float32)
for step in range(4):
    out = model(torch.randn(6, 4).cuda())
    loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 0, 1, 1, 0]).cuda())
    optimizer.zero_grad()
    if args.apex_amp and has_apex:
        use_amp = 'apex'
    elif args.native_amp and has_native_amp:
        use_amp = 'native'
    torch.manual_seed(42)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 12), nn.LayerNorm(12), nn.GELU(), nn.Linear(12, 5)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = [(torch.randn(4, 3, 4, 4).to(device), torch.randint(0, 5, (4,)).to(device)) for _ in range(4)]
    amp_autocast = suppress
    loss_scaler = None
    if use_amp == 'apex':
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
        loss_scaler = ApexScaler()
        print('Using NVIDIA APEX AMP. Training in mixed precision.')
    elif use_amp == 'native':
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
