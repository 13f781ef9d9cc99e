# expect: safe

"""word_language_model with truncated BPTT; lr annealed by 4 when the validation loss does not improve; SGD by hand through an optimizer."""
import argparse
import copy
import math

import torch
import torch.nn as nn


class ElmanCellLM(nn.Module):
    def __init__(self, ntoken, ninp):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.i2h = nn.Linear(ninp, ninp)
        self.h2h = nn.Linear(ninp, ninp, bias=False)
        self.decoder = nn.Linear(ninp, ntoken)
        self.init_weights()

    def init_weights(self):
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        outs = []
        for t in range(input.size(0)):
            hidden = torch.tanh(self.i2h(self.encoder(input[t])) + self.h2h(hidden))
            outs.append(hidden)
        return self.decoder(torch.stack(outs)).flatten(0, 1), hidden


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


def evaluate(model, data, criterion, args):
    model.eval()
    total = 0.
    hidden = torch.zeros(data.size(1), args.emsize)
    with torch.no_grad():
        for i in range(0, data.size(0) - 1, args.bptt):
            x, y = get_batch(data, i, args.bptt)
            out, hidden = model(x, hidden)
            hidden = repackage_hidden(hidden)
            total += len(x) * criterion(out, y).item()
    return total / (len(data) - 1)


def train(model, optimizer, data, criterion, args, amp=None):
    model.train()
    total = []
    hidden = torch.zeros(data.size(1), args.emsize)
    for batch, i in enumerate(range(0, data.size(0) - 1, args.bptt)):
        x, y = get_batch(data, i, args.bptt)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(x, hidden)
        loss = criterion(output, y)
        # activation regularization
        if args.alpha:
            loss = loss + args.alpha * hidden.pow(2).mean()
        if amp is not None:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total.append(loss.item())
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--emsize', type=int, default=6)
    parser.add_argument('--lr', type=float, default=20)
    parser.add_argument('--clip', type=float, default=0.25)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--bptt', type=int, default=5)
    parser.add_argument('--alpha', type=float, default=0.5)
    parser.add_argument('--amp', action='store_true')
    args = parser.parse_args(['--amp'])
    torch.manual_seed(1111)
    train_data, val_data = torch.randint(0, 13, (17, 3)), torch.randint(0, 13, (8, 3))
    model = ElmanCellLM(13, args.emsize)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    amp = None
    if args.amp:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    best, best_state, lr, log = None, None, args.lr, []
    for epoch in range(args.epochs):
        log.append(train(model, optimizer, train_data, criterion, args, amp))
        val_loss = evaluate(model, val_data, criterion, args)
        log.append([val_loss, math.exp(val_loss)])
        if best is None or val_loss < best:
            best, best_state = val_loss, copy.deepcopy(model.state_dict())
        else:
            lr /= 4.0
            for group in optimizer.param_groups:
                group['lr'] = lr
    model.load_state_dict(best_state)
    return log, lr, evaluate(model, val_data, criterion, args), [p for p in model.parameters()]


if __name__ == "__main__":
    main()
