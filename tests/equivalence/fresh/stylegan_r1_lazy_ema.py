# expect: review: these gradients are taken under autocast and without a loss scale, as 

"""Lazy R1, generator EMA; the two losses share nothing but the noise."""
import copy
import torch
from torch import nn, optim, autograd
from torch.nn import functional as F
from apex import amp


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def accumulate(model1, model2, decay=0.9):
    par1 = dict(model1.named_parameters())
    par2 = dict(model2.named_parameters())
    for k in par1.keys():
        par1[k].data.mul_(decay).add_(par2[k].data, alpha=1 - decay)


def d_logistic_loss(real_pred, fake_pred):
    real_loss = F.softplus(-real_pred)
    fake_loss = F.softplus(fake_pred)
    return real_loss.mean() + fake_loss.mean()


def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


def g_nonsaturating_loss(fake_pred):
    return F.softplus(-fake_pred).mean()


class EqualLinear(nn.Module):
    def __init__(self, i, o, lr_mul=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(o))
        self.scale = (1 / i ** 0.5) * lr_mul

    def forward(self, x):
        return F.linear(x, self.weight * self.scale, self.bias)


def make_nets():
    g = nn.Sequential(EqualLinear(4, 8), nn.LeakyReLU(0.2), EqualLinear(8, 6))
    d = nn.Sequential(EqualLinear(6, 8), nn.LeakyReLU(0.2), EqualLinear(8, 1))
    return g, d


def train(conf, loader, generator, discriminator, g_optim, d_optim, g_ema, device):
    stats = {"d": [], "g": [], "r1": []}
    r1_loss = torch.tensor(0.0, device=device)
    for i, real_img in enumerate(loader):
        real_img = real_img.to(device)
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        noise = torch.randn(real_img.shape[0], 4, device=device)
        fake_img = generator(noise)
        d_loss = d_logistic_loss(discriminator(real_img), discriminator(fake_img))
        discriminator.zero_grad()
        with amp.scale_loss(d_loss, d_optim) as d_loss_scaled:
            d_loss_scaled.backward()
        d_optim.step()

        d_regularize = i % conf["d_reg_every"] == 0
        if d_regularize:
            real_img.requires_grad = True
            real_pred = discriminator(real_img)
            r1_loss = d_r1_loss(real_pred, real_img)
            discriminator.zero_grad()
            with amp.scale_loss(conf["r1"] / 2 * r1_loss * conf["d_reg_every"] + 0 * real_pred[0, 0], d_optim) as scaled:
                scaled.backward()
            d_optim.step()

        requires_grad(generator, True)
        requires_grad(discriminator, False)
        fake_img = generator(torch.randn(real_img.shape[0], 4, device=device))
        g_loss = g_nonsaturating_loss(discriminator(fake_img))
        generator.zero_grad()
        with amp.scale_loss(g_loss, g_optim) as g_loss_scaled:
            g_loss_scaled.backward()
        g_optim.step()
        accumulate(g_ema, generator, 0.5 ** (32 / 100.0))
        stats["d"].append(d_loss.item())
        stats["g"].append(g_loss.item())
        stats["r1"].append(r1_loss.item())
    return stats


def main():
    torch.manual_seed(0)
    conf = {"r1": 10.0, "d_reg_every": 2, "lr": 2e-3}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator, discriminator = [n.to(device) for n in make_nets()]
    g_ema = copy.deepcopy(generator).eval()
    accumulate(g_ema, generator, 0)
    d_reg_ratio = conf["d_reg_every"] / (conf["d_reg_every"] + 1)
    g_optim = optim.Adam(generator.parameters(), lr=conf["lr"], betas=(0.0, 0.99))
    d_optim = optim.Adam(discriminator.parameters(), lr=conf["lr"] * d_reg_ratio, betas=(0.0, 0.99 ** d_reg_ratio))
    [generator, discriminator], [g_optim, d_optim] = amp.initialize([generator, discriminator], [g_optim, d_optim], opt_level="O1", verbosity=0)
    loader = [torch.randn(5, 6) for _ in range(5)]
    loader[2][0, 0] = float("inf")
    stats = train(conf, loader, generator, discriminator, g_optim, d_optim, g_ema, device)
    with torch.no_grad():
        sample = g_ema(torch.ones(2, 4, device=device))
    return stats["g"], stats["r1"][:2], sample, list(discriminator.parameters())


if __name__ == "__main__":
    main()
