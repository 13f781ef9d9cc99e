# expect: safe

"""ELECTRA pretraining, toy size: generator + discriminator, shared embeddings, one joint loss."""
import torch
from torch import nn
import torch.nn.functional as F

APEX_AVAILABLE = False
try:
    from apex import amp
    APEX_AVAILABLE = True
except ModuleNotFoundError:
    pass


class TinyEncoder(nn.Module):
    def __init__(self, emb, hidden):
        super(TinyEncoder, self).__init__()
        self.emb = emb
        self.q = nn.Linear(hidden, hidden)
        self.k = nn.Linear(hidden, hidden)
        self.ln = nn.LayerNorm(hidden)

    def forward(self, ids):
        x = self.emb(ids)
        att = torch.matmul(self.q(x), self.k(x).transpose(-1, -2)) / x.size(-1) ** 0.5
        att = att.softmax(dim=-1)
        return self.ln(x + torch.matmul(att, x))


class Electra(nn.Module):
    def __init__(self, vocab=24, hidden=8, disc_weight=5.0, temperature=1.0):
        super(Electra, self).__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.generator = TinyEncoder(self.emb, hidden)
        self.discriminator = TinyEncoder(self.emb, hidden)
        self.disc_head = nn.Linear(hidden, 1)
        self.bias = nn.Parameter(torch.zeros(vocab))
        self.disc_weight = disc_weight
        self.temperature = temperature

    def forward(self, ids, mask_positions, gumbel):
        masked = ids.masked_fill(mask_positions, 0)
        g = self.generator(masked)
        logits = F.linear(g, self.emb.weight, self.bias)
        mlm_labels = ids.masked_fill(~mask_positions, -100)
        mlm_loss = F.cross_entropy(logits.transpose(1, 2), mlm_labels, ignore_index=-100)
        with torch.no_grad():
            sampled = (logits.float() / self.temperature + gumbel * 0).argmax(-1)
            disc_input = torch.where(mask_positions, (sampled + ids) % 24, ids)
            disc_labels = (ids != disc_input).float()
        d = self.disc_head(self.discriminator(disc_input)).squeeze(-1)
        disc_loss = F.binary_cross_entropy_with_logits(d, disc_labels)
        with torch.no_grad():
            acc = (torch.round((torch.sign(d) + 1.0) * 0.5) == disc_labels).float().mean()
        return mlm_loss + self.disc_weight * disc_loss, mlm_loss, disc_loss, acc


def main():
    torch.manual_seed(1234)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    model = Electra().to(device)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3, betas=(0.9, 0.98), eps=1e-6)
    if APEX_AVAILABLE:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1')
    results = []
    for step in range(5):
        ids = torch.randint(1, 24, (4, 8), device=device)
        mask = torch.zeros_like(ids).bool()
        mask[:, step % 8] = True
        mask[:, (step + 3) % 8] = True
        loss, mlm, disc, acc = model(ids, mask, torch.zeros(4, 8, 24))
        if APEX_AVAILABLE:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        results.append([loss.item(), mlm.item(), disc.item()])
    return results


if __name__ == "__main__":
    main()
