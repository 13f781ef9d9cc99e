# expect: safe

"""The learning-rate schedule only advances when amp did not skip, judged by whether the loss scale went down."""
import torch
from torch import nn
from apex import amp


def loss_scale():
    return amp.state_dict()["loss_scaler0"]["loss_scale"]


class Tagger(nn.Module):
    def __init__(self, n_words=26, n_tags=4, dim=8):
        super(Tagger, self).__init__()
        self.words = nn.Embedding(n_words, dim)
        self.ctx = nn.Conv1d(dim, dim, kernel_size=3, padding=1)
        self.tags = nn.Linear(dim, n_tags)

    def forward(self, sent):
        x = self.ctx(self.words(sent).permute(0, 2, 1)).permute(0, 2, 1)
        return self.tags(x.relu())


class WarmupLinear(torch.optim.lr_scheduler.LambdaLR):
    def __init__(self, optimizer, warmup, total):
        super().__init__(optimizer, lambda s: (s + 1) / warmup if s < warmup else max(0.0, (total - s) / (total - warmup)))


def train_step(model, optimizer, scheduler, sent, tags, class_weight):
    out = model(sent)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), tags.flatten(), weight=class_weight, reduction="sum")
    before = loss_scale()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    skipped = loss_scale() < before
    if not skipped:
        scheduler.step()
    return loss, skipped


def main():
    torch.manual_seed(17)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    scheduler = WarmupLinear(optimizer, 2, 6)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    n_skipped, lrs, losses = 0, [], []
    for step in range(6):
        sent = torch.randint(0, 26, (3, 7), device=device)
        tags = torch.randint(0, 4, (3, 7), device=device)
        weight = torch.ones(4, device=device)
        if step in (1, 3):
            weight[2] = 3e37
        loss, skipped = train_step(model, optimizer, scheduler, sent, tags, weight)
        n_skipped += int(skipped)
        lrs.append(optimizer.param_groups[0]["lr"])
        if not skipped:
            losses.append(loss.item())
    return n_skipped, lrs, losses, list(model.parameters())


if __name__ == "__main__":
    print(main())
