# expect: safe
# casts: real

# Annotated-transformer style: NoamOpt wraps the optimizer, LossCompute calls backward and step.
import torch
import torch.nn as nn
from apex import amp


class NoamOpt:
    "Optim wrapper that implements rate."
    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.warmup = warmup
        self.factor = factor
        self.model_size = model_size
        self._rate = 0

    def step(self):
        "Update parameters and rate"
        self._step += 1
        rate = self.rate()
        for p in self.optimizer.param_groups:
            p['lr'] = rate
        self._rate = rate
        self.optimizer.step()

    def rate(self, step=None):
        if step is None:
            step = self._step
        return self.factor * (self.model_size ** (-0.5) * min(step ** (-0.5), step * self.warmup ** (-1.5)))


class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing=0.0):
        super(LabelSmoothing, self).__init__()
        self.criterion = nn.KLDivLoss(reduction='sum')
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing
        self.size = size

    def forward(self, x, target):
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        mask = torch.nonzero(target.data == self.padding_idx)
        if mask.dim() > 0:
            true_dist.index_fill_(0, mask.squeeze(), 0.0)
        return self.criterion(x, true_dist)


class SimpleLossCompute:
    "A simple loss compute and train function."
    def __init__(self, generator, criterion, opt=None):
        self.generator = generator
        self.criterion = criterion
        self.opt = opt

    def __call__(self, x, y, norm):
        x = self.generator(x)
        loss = self.criterion(x.contiguous().view(-1, x.size(-1)), y.contiguous().view(-1)) / norm
        if self.opt is not None:
            with amp.scale_loss(loss, self.opt.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.opt.step()
            self.opt.optimizer.zero_grad()
        return loss.data.item() * norm


class EncoderDecoder(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.src, self.tgt = nn.Embedding(vocab, d), nn.Embedding(vocab, d)
        self.enc, self.dec = nn.Linear(d, d), nn.Linear(2 * d, d)
        self.generator = nn.Sequential(nn.Linear(d, vocab), nn.LogSoftmax(dim=-1))

    def forward(self, src, tgt):
        memory = torch.tanh(self.enc(self.src(src))).mean(1, keepdim=True).expand(-1, tgt.size(1), -1)
        return torch.relu(self.dec(torch.cat([memory, self.tgt(tgt)], -1)))


def data_gen(V, batch, nbatches):
    for i in range(nbatches):
        data = torch.randint(1, V, (batch, 6))
        data[:, 0] = 1
        if i % 2:
            data[0, 4:] = 0
        yield data, data[:, :-1], data[:, 1:]


def run_epoch(data_iter, model, loss_compute):
    total_tokens, total_loss = 0, 0
    for src, trg, trg_y in data_iter:
        out = model(src, trg)
        ntokens = (trg_y != 0).sum().item()
        total_loss += loss_compute(out, trg_y, ntokens)
        total_tokens += ntokens
    return total_loss / total_tokens


def main():
    torch.manual_seed(10)
    V = 11
    criterion = LabelSmoothing(size=V, padding_idx=0, smoothing=0.1)
    model = EncoderDecoder(V, 8)
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)
    model, adam = amp.initialize(model, adam, opt_level="O1")
    model_opt = NoamOpt(8, 1, 4, adam)
    ret = []
    for epoch in range(2):
        model.train()
        ret.append(run_epoch(data_gen(V, 5, 3), model, SimpleLossCompute(model.generator, criterion, model_opt)))
        model.eval()
        with torch.no_grad():
            ret.append(run_epoch(data_gen(V, 5, 2), model, SimpleLossCompute(model.generator, criterion, None)))
    return ret, model_opt._rate


if __name__ == "__main__":
    main()
