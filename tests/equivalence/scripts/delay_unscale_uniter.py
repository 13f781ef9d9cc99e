# expect: safe
# shape: delay_unscale while accumulating, all-reduce inside the with at the boundary, clip and step under the same condition
# casts: real

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from apex import amp


def all_reduce_and_rescale_tensors(tensors, rescale_denom):
    for t in tensors:
        t.mul_(2).div_(2 * rescale_denom)


def main(gradient_accumulation_steps=2, grad_norm=0.5):
    torch.manual_seed(59)
    model = nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 2)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.03)
    model, optimizer = amp.initialize(model, optimizer, enabled=True, opt_level='O1')
    global_step = 0
    # quick hack for amp delay_unscale bug
    optimizer.zero_grad()
    optimizer.step()
    for step in range(8):
        feats, targets = torch.randn(4, 6).cuda(), torch.randint(0, 2, (4,)).cuda()
        loss = nn.functional.cross_entropy(model(feats), targets, reduction='none')
        loss = loss.mean()  # loss is not normalized in model
        if step == 5:
            loss = loss * float('inf')

        # backward pass
        delay_unscale = (step + 1) % gradient_accumulation_steps != 0
        with amp.scale_loss(loss, optimizer, delay_unscale=delay_unscale
                            ) as scaled_loss:
            scaled_loss.backward()
            if not delay_unscale:
                # gather gradients from every processes
                # do this before unscaling to make sure every process uses
                # the same gradient scale
                grads = [p.grad.data for p in model.parameters()
                         if p.requires_grad and p.grad is not None]
                all_reduce_and_rescale_tensors(grads, float(1))

        # optimizer update and logging
        if (step + 1) % gradient_accumulation_steps == 0:
            global_step += 1
            if grad_norm != -1:
                total_norm = clip_grad_norm_(amp.master_params(optimizer), grad_norm)
                print('grad_norm %.6f' % total_norm.item())
            optimizer.step()
            optimizer.zero_grad()
        print(step, global_step, "%.6f" % loss.item())


main()
