# expect: review: opt_level=args.opt_level is decided at run time: O0 switches autocast 

import argparse
import numpy as np
import torch
import torch.nn as nn
from apex import amp


class ScheduledOptim:
    """A simple wrapper class for learning rate scheduling"""

    def __init__(self, optimizer, d_model, n_warmup_steps, current_steps):
        self._optimizer = optimizer
        self.n_warmup_steps = n_warmup_steps
        self.n_current_steps = current_steps
        self.init_lr = np.power(d_model, -0.5)

    def step_and_update_lr(self):
        self._update_learning_rate()
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()

    def get_learning_rate(self):
        return self._optimizer.param_groups[0]["lr"]

    def _get_lr_scale(self):
        return np.min([np.power(self.n_current_steps, -0.5), np.power(self.n_warmup_steps, -1.5) * self.n_current_steps])

    def _update_learning_rate(self):
        self.n_current_steps += 1
        lr = self.init_lr * self._get_lr_scale()
        for param_group in self._optimizer.param_groups:
            param_group["lr"] = lr


class FastSpeech(nn.Module):
    def __init__(self, vocab=10, d=8, mel=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.enc = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.LayerNorm(d))
        self.duration = nn.Linear(d, 1)
        self.mel_linear = nn.Linear(d, mel)

    def forward(self, src, dur):
        h = self.enc(self.emb(src))
        log_d = self.duration(h.detach()).squeeze(-1)
        expanded = torch.stack([torch.repeat_interleave(x, r, dim=0) for x, r in zip(h, dur)])
        return self.mel_linear(expanded), log_d


class FastSpeechLoss(nn.Module):
    def forward(self, mel, log_d, mel_target, d_target):
        mel_loss = nn.functional.l1_loss(mel, mel_target)
        d_loss = nn.functional.mse_loss(log_d, torch.log(d_target.float()))
        return mel_loss, d_loss


def get_batches(n):
    g = torch.Generator().manual_seed(0)
    for i in range(n):
        src = torch.randint(1, 10, (2, 4), generator=g)
        dur = torch.tensor([[1, 2, 1, 2], [2, 1, 2, 1]])
        mel = torch.randn(2, 6, 4, generator=g)
        yield i, src, dur, mel


def main(argv=()):
    parser = argparse.ArgumentParser()
    parser.add_argument("--restore_step", type=int, default=0)
    parser.add_argument("--acc_steps", type=int, default=2)
    parser.add_argument("--grad_clip_thresh", type=float, default=1.0)
    parser.add_argument("--n_warm_up_step", type=int, default=10)
    parser.add_argument("--opt-level", default="O1")
    args = parser.parse_args(list(argv))

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = FastSpeech().to(device)
    criterion = FastSpeechLoss().to(device)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    scheduled_optim = ScheduledOptim(optimizer, 8, args.n_warm_up_step, args.restore_step)

    model = model.train()
    losses, lrs = [], []
    for i, src, dur, mel in get_batches(9):
        current_step = i + args.restore_step + 1
        mel_out, log_d = model(src.to(device), dur.to(device))
        mel_loss, d_loss = criterion(mel_out, log_d, mel.to(device), dur.to(device))
        total_loss = (mel_loss + d_loss) / args.acc_steps
        if i == 4:
            total_loss = total_loss * float("inf")  # as seen on the cluster once
        with amp.scale_loss(total_loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        losses.append(mel_loss.item())
        if current_step % args.acc_steps == 0:
            nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.grad_clip_thresh)
            scheduled_optim.step_and_update_lr()
            scheduled_optim.zero_grad()
            lrs.append(scheduled_optim.get_learning_rate())
            print("step %d mel %.4f dur %.4f lr %.6f" % (current_step, mel_loss, d_loss, lrs[-1]))
    return losses, lrs, list(model.parameters())


if __name__ == "__main__":
    main()
