# expect: safe
# shape: networks in a dictionary that is copied, made of another and handed on by two stars.

import os
import tempfile
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

img2mse = lambda x, y: torch.mean((x - y) ** 2)
mse2psnr = lambda x: -10. * torch.log(x) / torch.log(torch.Tensor([10.]))


class Embedder:
    def __init__(self, n):
        self.freqs = 2. ** torch.linspace(0., n - 1, n)

    def embed(self, x):
        out = [x]
        for f in self.freqs:
            out += [torch.sin(x * f), torch.cos(x * f)]
        return torch.cat(out, -1)


class NeRF(nn.Module):
    def __init__(self, D=2, W=16, input_ch=9):
        super(NeRF, self).__init__()
        self.pts_linears = nn.ModuleList([nn.Linear(input_ch, W)] + [nn.Linear(W, W) for i in range(D - 1)])
        self.output_linear = nn.Linear(W, 4)

    def forward(self, x):
        h = x
        for l in self.pts_linears:
            h = F.relu(l(h))
        return self.output_linear(h)


def raw2outputs(raw, z_vals):
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = torch.cat([dists, torch.Tensor([1e10]).expand(dists[..., :1].shape)], -1)
    rgb = torch.sigmoid(raw[..., :3])
    alpha = 1. - torch.exp(-F.relu(raw[..., 3]) * dists)
    weights = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1. - alpha + 1e-10], -1), -1)[:, :-1]
    return torch.sum(weights[..., None] * rgb, -2)


def render_rays(rays_o, rays_d, network_fn, network_fine, embed, n_samples=6, perturb=1.):
    z_vals = torch.linspace(2., 6., n_samples).expand(rays_o.shape[0], n_samples)
    if perturb > 0.:
        z_vals = z_vals + torch.rand_like(z_vals) * 0.1
    pts = rays_o[:, None, :] + rays_d[:, None, :] * z_vals[..., None]
    e = embed.embed(pts[..., :1].expand(*pts.shape[:-1], 1))
    e = torch.cat([e, pts[..., 1:]], -1)
    rgb0 = raw2outputs(network_fn(e), z_vals)
    rgb = raw2outputs(network_fine(e), z_vals)
    return {'rgb_map': rgb, 'rgb0': rgb0}


def create_nerf(args):
    embed = Embedder(3)
    model = NeRF(args['netdepth'], args['netwidth'])
    grad_vars = list(model.parameters())
    model_fine = NeRF(args['netdepth'], args['netwidth'])
    grad_vars += list(model_fine.parameters())
    optimizer = torch.optim.Adam(params=grad_vars, lr=args['lrate'], betas=(0.9, 0.999))
    if args['use_amp']:
        [model, model_fine], optimizer = amp.initialize([model, model_fine], optimizer, opt_level='O1')
    start = 0
    ckpts = sorted(f for f in os.listdir(args['basedir']) if f.endswith('.tar'))
    if len(ckpts) > 0:
        ckpt = torch.load(os.path.join(args['basedir'], ckpts[-1]))
        start = ckpt['global_step']
        optimizer.load_state_dict(ckpt['optimizer_state_dict'])
        model.load_state_dict(ckpt['network_fn_state_dict'])
        model_fine.load_state_dict(ckpt['network_fine_state_dict'])
    kwargs = {'network_fn': model, 'network_fine': model_fine, 'embed': embed}
    render_kwargs_train = dict(kwargs, perturb=1.)
    render_kwargs_test = {k: render_kwargs_train[k] for k in render_kwargs_train}
    render_kwargs_test['perturb'] = False
    return render_kwargs_train, render_kwargs_test, start, grad_vars, optimizer


def train(args):
    render_kwargs_train, render_kwargs_test, start, grad_vars, optimizer = create_nerf(args)
    g = torch.Generator().manual_seed(4)
    rays = torch.randn(64, 2, 3, generator=g)
    target = torch.rand(64, 3, generator=g)
    N_rand = args['N_rand']
    global_step = start
    i_batch = 0
    log = []
    for i in range(start, start + args['N_iters']):
        batch_rays, target_s = rays[i_batch:i_batch + N_rand], target[i_batch:i_batch + N_rand]
        i_batch += N_rand
        if i_batch >= rays.shape[0]:
            i_batch = 0
        extras = render_rays(batch_rays[:, 0], batch_rays[:, 1], **render_kwargs_train)
        optimizer.zero_grad()
        img_loss = img2mse(extras['rgb_map'], target_s)
        loss = img_loss
        psnr = mse2psnr(img_loss.detach())
        if 'rgb0' in extras:
            img_loss0 = img2mse(extras['rgb0'], target_s)
            loss = loss + img_loss0
        if args['use_amp']:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        # update learning rate
        decay_rate = 0.1
        decay_steps = args['lrate_decay'] * 10
        new_lrate = args['lrate'] * (decay_rate ** (global_step / decay_steps))
        for param_group in optimizer.param_groups:
            param_group['lr'] = new_lrate
        if i % args['i_weights'] == 0:
            torch.save({
                'global_step': global_step,
                'network_fn_state_dict': render_kwargs_train['network_fn'].state_dict(),
                'network_fine_state_dict': render_kwargs_train['network_fine'].state_dict(),
                'optimizer_state_dict': optimizer.state_dict(),
            }, os.path.join(args['basedir'], '{:06d}.tar'.format(i)))
        if i % args['i_testset'] == 0 and i > 0:
            with torch.no_grad():
                rgbs = render_rays(rays[:4, 0], rays[:4, 1], **render_kwargs_test)['rgb_map']
            log.append(rgbs.mean().item())
        if i % args['i_print'] == 0:
            print(f"[TRAIN] Iter: {i} Loss: {loss.item():.5f}  PSNR: {psnr.item():.4f}")
        global_step += 1
    return log, render_kwargs_train['network_fine']


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    args = dict(netdepth=2, netwidth=16, lrate=5e-3, lrate_decay=1, N_rand=16, N_iters=6, i_weights=3, i_testset=2, i_print=2, use_amp=True, basedir=tempfile.mkdtemp())
    log, net = train(args)
    log2, net = train(args)
    return log, log2, list(net.parameters())


if __name__ == '__main__':
    main()
