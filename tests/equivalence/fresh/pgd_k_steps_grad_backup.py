# expect: review: O2 kept float16 weights with float32 masters and cast the model's inpu

import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class PGD:
    def __init__(self, model, emb_name="embedding", epsilon=0.8, alpha=0.3):
        self.model, self.emb_name, self.epsilon, self.alpha = model, emb_name, epsilon, alpha
        self.emb_backup, self.grad_backup = {}, {}

    def _targets(self):
        return [(n, p) for n, p in self.model.named_parameters() if p.requires_grad and self.emb_name in n]

    def attack(self, is_first_attack=False):
        for name, param in self._targets():
            if is_first_attack:
                self.emb_backup[name] = param.data.clone()
            norm = torch.norm(param.grad)
            if norm != 0:
                r_at = self.alpha * param.grad / norm
                param.data.add_(r_at)
                param.data = self.project(name, param.data)

    def project(self, name, data):
        r = data - self.emb_backup[name]
        if torch.norm(r) > self.epsilon:
            r = self.epsilon * r / torch.norm(r)
        return self.emb_backup[name] + r

    def restore(self):
        for name, param in self._targets():
            param.data = self.emb_backup[name]
        self.emb_backup = {}

    def backup_grad(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad and param.grad is not None:
                self.grad_backup[name] = param.grad.clone()

    def restore_grad(self):
        for name, param in self.model.named_parameters():
            if param.requires_grad and param.grad is not None:
                param.grad = self.grad_backup[name]


class TextRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(25, 6)
        self.mix = nn.Linear(12, 6)
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        h = x.new_zeros(x.size(0), 6, dtype=torch.float)
        for t in range(x.size(1)):
            h = torch.tanh(self.mix(torch.cat([self.embedding(x[:, t]), h], 1)))
        return self.out(h)


def backward(loss, optimizer, args):
    if args.fp16:
        from apex import amp
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()


def train(args):
    torch.manual_seed(args.seed)
    model = TextRNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    if args.fp16:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    pgd = PGD(model)
    losses = []
    for step in range(args.steps):
        x = torch.randint(0, 25, (6, 4))
        y = (x.sum(1) % 2).long()
        loss = F.cross_entropy(model(x), y)
        backward(loss, optimizer, args)
        pgd.backup_grad()
        for k in range(args.K):
            pgd.attack(is_first_attack=(k == 0))
            if k != args.K - 1:
                model.zero_grad()
            else:
                pgd.restore_grad()
            loss_adv = F.cross_entropy(model(x), y)
            backward(loss_adv, optimizer, args)
        pgd.restore()
        optimizer.step()
        model.zero_grad()
        losses += [loss.item(), loss_adv.item()]
    return losses, model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--fp16", type=bool, default=True)
    p.add_argument("--opt_level", default="O1", choices=["O0", "O1", "O2"])
    p.add_argument("--seed", type=int, default=9)
    p.add_argument("--steps", type=int, default=4)
    p.add_argument("-K", type=int, default=3)
    args = p.parse_args([])
    losses, model = train(args)
    return losses, [v for v in model.state_dict().values()]


if __name__ == "__main__":
    main()
