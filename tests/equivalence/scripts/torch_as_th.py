# expect: safe
# shape: import torch as th

import torch as th
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def run(n_steps, lr):
    dev = th.device('cuda')
    net = nn.Linear(5, 3).to(dev)
    opt = th.optim.SGD(net.parameters(), lr=lr)
    net, opt = amp.initialize(net, opt, opt_level='O1')
    for i in range(n_steps):
        obs = th.randn(4, 5, device=dev)
        logp = F.log_softmax(net(obs), dim=1)
        entropy = -(logp.exp() * logp).sum(1).mean()
        policy_loss = -logp[:, 0].mean()
        loss = policy_loss - 0.01 * entropy
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        th.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        print('%d %.6f %.6f' % (i, loss.item(), entropy.item()))


if __name__ == '__main__':
    th.manual_seed(115)
    run(5, 0.3)
