# expect: safe
# shape: free adversarial training leaves its counted loop in the last round, in which gradients are unscaled (VILLA)

import torch
from torch import nn
from apex import amp


def main(adv_steps=3, accumulate=2, fp16=True):
    torch.manual_seed(5)
    embed, head = nn.Linear(6, 8).cuda(), nn.Linear(8, 2).cuda()
    model = nn.ModuleList([embed, head])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, optimizer = amp.initialize(model, optimizer, enabled=fp16, opt_level="O1")
    for step in range(6):
        x, y = torch.randn(4, 6).cuda(), torch.randint(0, 2, (4,)).cuda()
        if step == 3:
            x = x * float("inf")
        delta = torch.zeros(4, 8).cuda()
        for astep in range(adv_steps):
            delta.requires_grad_()
            loss = nn.functional.cross_entropy(head(embed(x) + delta), y) / adv_steps
            delay_unscale = (step + 1) % accumulate != 0 or (astep + 1) % adv_steps != 0
            with amp.scale_loss(loss, optimizer, delay_unscale=delay_unscale) as scaled_loss:
                scaled_loss.backward(retain_graph=True)
            if astep == adv_steps - 1:
                break
            delta = (delta + 0.01 * torch.sign(delta.grad)).detach()
        if (step + 1) % accumulate == 0:
            nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        print(step, "%.6f" % loss.item())


main()
