# expect: review: loss_scale=args.loss_scale if args.loss_scale == "dynamic" else float(

import math
import sys
import types

import torch
import torch.nn as nn
import torch.optim as optim


def get_args():
    args = types.SimpleNamespace()
    args.num_blocks = 2
    args.num_inputs = 4
    args.num_hidden = 8
    args.lr = 0.01
    args.fp16 = True
    args.fp16_opt_level = "O1"
    args.loss_scale = "128.0"   # `dynamic` was unstable with BN flow
    args.max_grad_norm = 1.0
    args.epochs = 3
    return args


class CouplingLayer(nn.Module):
    def __init__(self, num_inputs, num_hidden, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.scale_net = nn.Sequential(nn.Linear(num_inputs, num_hidden), nn.Tanh(), nn.Linear(num_hidden, num_inputs))
        self.translate_net = nn.Sequential(nn.Linear(num_inputs, num_hidden), nn.ReLU(), nn.Linear(num_hidden, num_inputs))

    def forward(self, inputs, mode="direct"):
        masked = inputs * self.mask
        log_s = self.scale_net(masked) * (1 - self.mask)
        t = self.translate_net(masked) * (1 - self.mask)
        if mode == "direct":
            return inputs * torch.exp(log_s) + t, log_s.sum(-1, keepdim=True)
        return (inputs - t) * torch.exp(-log_s), -log_s.sum(-1, keepdim=True)


class FlowSequential(nn.Sequential):
    def forward(self, inputs, mode="direct"):
        self.num_inputs = inputs.size(-1)
        logdets = torch.zeros(inputs.size(0), 1, device=inputs.device)
        for module in (self._modules.values() if mode == "direct" else reversed(self._modules.values())):
            inputs, logdet = module(inputs, mode)
            logdets += logdet
        return inputs, logdets

    def log_probs(self, inputs):
        u, log_jacob = self(inputs)
        log_probs = (-0.5 * u.pow(2) - 0.5 * math.log(2 * math.pi)).sum(-1, keepdim=True)
        return (log_probs + log_jacob).sum(-1, keepdim=True)


def build(args):
    mask = torch.arange(0, args.num_inputs) % 2
    mask = mask.float()
    modules = []
    for _ in range(args.num_blocks):
        modules += [CouplingLayer(args.num_inputs, args.num_hidden, mask)]
        mask = 1 - mask
    return FlowSequential(*modules)


def main():
    args = get_args()
    torch.manual_seed(77)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build(args)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.orthogonal_(module.weight)
            module.bias.data.fill_(0)
    model.to(device)
    optimizer = optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-6)
    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level, loss_scale=args.loss_scale if args.loss_scale == "dynamic" else float(args.loss_scale))
    data = torch.randn(12, args.num_inputs) @ torch.randn(args.num_inputs, args.num_inputs)
    data[5, 1] = float("nan")
    valid = torch.randn(6, args.num_inputs)
    best_validation_loss, best, logs, bad = float("inf"), None, [], 0
    for epoch in range(args.epochs):
        model.train()
        for batch in data.to(device).split(4):
            optimizer.zero_grad()
            loss = -model.log_probs(batch).mean()
            if not torch.isfinite(loss):
                bad += 1
                continue
            if args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
                total_norm = torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_grad_norm)
            else:
                loss.backward()
                total_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            logs.append((loss.item(), float(total_norm)))
        model.eval()
        with torch.no_grad():
            val = -model.log_probs(valid.to(device)).mean().item()
        if val < best_validation_loss:
            best_validation_loss, best = val, [p.clone() for p in model.parameters()]
        sys.stdout.write("epoch %d: average negative log likelihood %.4f\n" % (epoch, val))
    return logs, bad, best_validation_loss, best, list(model.parameters())


if __name__ == "__main__":
    main()
