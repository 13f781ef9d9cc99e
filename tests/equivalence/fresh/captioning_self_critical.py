# expect: safe

# self critical sequence training after a cross-entropy warm-up; sample and greedy decode share the model
import torch
import torch.nn as nn
from apex import amp


class Decoder(nn.Module):
    def __init__(self, vocab=9, d=8, max_len=5):
        super().__init__()
        self.vocab, self.max_len = vocab, max_len
        self.emb = nn.Embedding(vocab + 1, d)
        self.cell = nn.Linear(2 * d, d)
        self.logit = nn.Linear(d, vocab)

    def step(self, it, h):
        h = torch.tanh(self.cell(torch.cat([self.emb(it), h], 1)))
        return torch.log_softmax(self.logit(h), 1), h

    def forward(self, feats, labels=None, mode='forward', sample_max=True):
        if mode == 'sample':
            return self._sample(feats, sample_max)
        it, outs = torch.full((len(feats),), self.vocab), []
        for t in range(labels.size(1)):
            lp, feats = self.step(it, feats)
            outs.append(lp)
            it = labels[:, t]
        return torch.stack(outs, 1)

    def _sample(self, h, sample_max):
        it = torch.full((len(h),), self.vocab)
        seq, seqlp = [], []
        for t in range(self.max_len):
            lp, h = self.step(it, h)
            if sample_max:
                sampleLogprobs, it = torch.max(lp, 1)
            else:
                it = torch.multinomial(torch.exp(lp.detach()), 1, generator=self.gen).squeeze(1)
                sampleLogprobs = lp.gather(1, it.unsqueeze(1)).squeeze(1)
            seq.append(it)
            seqlp.append(sampleLogprobs)
        return torch.stack(seq, 1), torch.stack(seqlp, 1)


def reward(seq, gts):
    return (seq == gts).float().mean(1)


def get_self_critical_reward(model, fc, gts, gen_result):
    model.eval()
    with torch.no_grad():
        greedy_res, _ = model(fc, mode='sample')
    model.train()
    return reward(gen_result, gts) - reward(greedy_res, gts)


class RewardCriterion(nn.Module):
    def forward(self, logp, seq, r):
        mask = (seq > 0).float()
        mask = torch.cat([mask.new_ones(mask.size(0), 1), mask[:, :-1]], 1)
        return torch.sum(-logp * r.unsqueeze(1) * mask) / torch.sum(mask)


def train(opt):
    torch.manual_seed(opt['seed'])
    model = Decoder()
    model.gen = torch.Generator().manual_seed(6)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt['lr'])
    model, optimizer = amp.initialize(model, optimizer, opt_level=opt.get('opt_level', 'O1'), verbosity=0)
    rl_crit = RewardCriterion()
    losses = []
    for iteration in range(opt['iters']):
        fc, gts = torch.randn(4, 8), torch.randint(0, 9, (4, 5))
        sc_flag = iteration >= opt['self_critical_after']
        model.zero_grad()
        if not sc_flag:
            loss = -model(fc, gts).gather(2, gts.unsqueeze(2)).mean()
        else:
            gen_result, sample_logprobs = model(fc, mode='sample', sample_max=False)
            r = get_self_critical_reward(model, fc, gts, gen_result)
            loss = rl_crit(sample_logprobs, gen_result.data, r)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        # clip_gradient of the original code
        for group in optimizer.param_groups:
            for param in group['params']:
                if param.grad is not None:
                    param.grad.data.clamp_(-opt['grad_clip'], opt['grad_clip'])
        optimizer.step()
        losses.append(loss.item())
    return losses, model


def main():
    losses, model = train({'seed': 4, 'lr': 0.01, 'iters': 6, 'self_critical_after': 3, 'grad_clip': 0.05})
    return losses, list(model.parameters())


if __name__ == "__main__":
    main()
