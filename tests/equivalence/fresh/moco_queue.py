# expect: review: O2 kept float16 weights with float32 masters and cast the model's inpu

import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='tiny MoCo')
parser.add_argument('--lr', default=0.06, type=float)
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('--moco-k', default=16, type=int)
parser.add_argument('--moco-m', default=0.9, type=float)
parser.add_argument('--moco-t', default=0.2, type=float)
parser.add_argument('--cos', action='store_true')
parser.add_argument('--amp-opt-level', default='O1', choices=['O0', 'O1', 'O2'])


class Encoder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, dim))

    def forward(self, x):
        return self.fc(F.relu(self.bn(self.conv(x))).mean((2, 3)))


class MoCo(nn.Module):
    def __init__(self, dim=8, K=16, m=0.99, T=0.07):
        super().__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q, self.encoder_k = Encoder(dim), Encoder(dim)
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data.copy_(q.data)
            k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1. - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        ptr, n = int(self.queue_ptr), keys.shape[0]
        self.queue[:, ptr:ptr + n] = keys.T
        self.queue_ptr[0] = (ptr + n) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device=logits.device)
        self._dequeue_and_enqueue(k)
        return logits, labels


def adjust_learning_rate(optimizer, epoch, args):
    lr = args.lr
    if args.cos:
        lr *= 0.5 * (1. + math.cos(math.pi * epoch / args.epochs))
    for group in optimizer.param_groups:
        group['lr'] = lr
    return lr


def main():
    from apex import amp
    args = parser.parse_args(['--cos'])
    torch.manual_seed(10)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = MoCo(K=args.moco_k, m=args.moco_m, T=args.moco_t).to(device)
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.amp_opt_level)
    criterion = nn.CrossEntropyLoss().to(device)
    loss_log, top1 = [], 0.
    for epoch in range(args.epochs):
        adjust_learning_rate(optimizer, epoch, args)
        for _ in range(3):
            im = torch.randn(4, 3, 8, 8, device=device)
            im_q, im_k = im + 0.1 * torch.randn_like(im), im.flip(3)
            output, target = model(im_q=im_q, im_k=im_k)
            loss = criterion(output, target)
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
            loss_log.append(loss.item())
            top1 += (output.argmax(1) == target).sum().item()
    return loss_log, int(model.queue_ptr), model.encoder_q.fc[2].weight.norm()


if __name__ == '__main__':
    main()
