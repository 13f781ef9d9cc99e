# expect: review: sigmoid gets float32 where the program calls it, as Apex was told to hand it
# casts: real

"""BiLSTM-free CRF tagger: emissions in mixed precision, the CRF's forward algorithm kept in fp32 by a decorator; sigmoid + BCELoss for an auxiliary task."""
import torch
import torch.nn as nn
from apex import amp

amp.register_float_function(torch, 'sigmoid')


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.num_tags = num_tags
        self.start_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.end_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))

    @amp.float_function
    def forward(self, emissions, tags, mask):
        return (self._denominator(emissions, mask) - self._numerator(emissions, tags, mask)).mean()

    def _numerator(self, e, tags, mask):
        rows = torch.arange(len(e))
        score = self.start_transitions[tags[:, 0]] + e[rows, 0, tags[:, 0]]
        for i in range(1, e.size(1)):
            score = score + (self.transitions[tags[:, i - 1], tags[:, i]] + e[rows, i, tags[:, i]]) * mask[:, i]
        last = tags[rows, mask.long().sum(1) - 1]
        return score + self.end_transitions[last]

    def _denominator(self, e, mask):
        score = self.start_transitions + e[:, 0]
        for i in range(1, e.size(1)):
            nxt = torch.logsumexp(score.unsqueeze(2) + self.transitions + e[:, i].unsqueeze(1), dim=1)
            score = torch.where(mask[:, i].unsqueeze(1).bool(), nxt, score)
        return torch.logsumexp(score + self.end_transitions, dim=1)

    def decode(self, e):
        e = e.float()
        score, history = self.start_transitions + e[:, 0], []
        for i in range(1, e.size(1)):
            score, idx = (score.unsqueeze(2) + self.transitions + e[:, i].unsqueeze(1)).max(1)
            history.append(idx)
        return (score + self.end_transitions).max(1)


class Tagger(nn.Module):
    def __init__(self, vocab=30, d=10, tags=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.hidden = nn.Linear(d, d)
        self.hidden2tag = nn.Linear(d, tags)
        self.has_entity = nn.Linear(d, 1)
        self.crf = CRF(tags)

    def features(self, x):
        return torch.tanh(self.hidden(self.emb(x)))

    def forward(self, x, tags, mask):
        h = self.features(x)
        loss = self.crf(self.hidden2tag(h), tags, mask)
        prob = torch.sigmoid(self.has_entity(h.mean(1))).squeeze(1)
        return loss + nn.BCELoss()(prob, (tags == 3).any(1).float())


def main():
    torch.manual_seed(4)
    model = Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    losses = []
    for _ in range(5):
        x, tags = torch.randint(0, 30, (4, 6)), torch.randint(0, 4, (4, 6))
        mask = torch.ones(4, 6)
        mask[1, 4:] = 0
        model.zero_grad()
        loss = model(x, tags, mask)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        model.eval()
        best, _ = model.crf.decode(model.hidden2tag(model.features(x)))
    return losses, best


if __name__ == "__main__":
    main()
