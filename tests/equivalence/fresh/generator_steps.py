# expect: review: not every path of this could be compared

import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class SimpleVAE(nn.Module):
    def __init__(self, d=8, z=3):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Sequential(nn.Linear(z, 16), nn.ReLU(), nn.Linear(16, d))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        eps = torch.randn(mu.shape, device=mu.device)
        return self.dec(mu + (0.5 * logvar).exp() * eps), mu, logvar


def elbo(x, rec, mu, logvar, beta):
    return F.mse_loss(rec, x, reduction='sum') / len(x), beta * -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()


def infinite(batches):
    while True:
        yield from batches


def train_steps(model, opt, batches, grad_clip=None):
    """Yields (step, metrics) forever; consumer decides when to stop, to evaluate, to change the beta."""
    beta = 0.1
    for step, x in enumerate(infinite(batches)):
        opt.zero_grad()
        rec, kl = elbo(x, *model(x), beta)
        loss = rec + kl
        with amp.scale_loss(loss, opt) as scaled:
            scaled.backward()
        metrics = {'rec': rec.item(), 'kl': kl.item()}
        if grad_clip is not None:
            metrics['gnorm'] = float(nn.utils.clip_grad_norm_(amp.master_params(opt), grad_clip))
        opt.step()
        new_beta = yield step, metrics
        if new_beta is not None:
            beta = new_beta


def main():
    torch.manual_seed(77)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = SimpleVAE().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    model, opt = amp.initialize(model, opt, opt_level='O1')
    data = [torch.randn(4, 8).to(device) for _ in range(3)]
    data[2][0, 0] = 1e18
    hist = []
    stepper = train_steps(model, opt, data, grad_clip=2.0)
    for step, m in stepper:
        if step % 3 == 2:
            continue
        hist.append((m['rec'], m['kl'], m['gnorm']))
        if step == 3:
            stepper.send(0.5)
        if step >= 6:
            break
    stepper.close()
    more = [m['kl'] for _, m in itertools.islice(train_steps(model, opt, data[:2]), 2)]
    return hist, more, list(model.parameters())


if __name__ == '__main__':
    main()
