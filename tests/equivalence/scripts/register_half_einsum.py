# expect: safe
# shape: register_half_function(torch, 'einsum'), einsum is on the native list
# argv: --fp16
# argv:

import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()

# Before we do anything with models, we want to ensure that we get fp16 execution of torch.einsum if args.fp16 is set.
# Otherwise it'll default to "promote" mode, and we'll get fp32 operations.
if args.fp16:
    try:
        import apex
        apex.amp.register_half_function(torch, 'einsum')
    except ImportError:
        raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.k = nn.Linear(4, 4)

    def forward(self, x):
        w = torch.softmax(torch.einsum('bid,bjd->bij', self.q(x), self.k(x)), dim=-1)
        return torch.einsum('bij,bjd->bid', w, x)


torch.manual_seed(98)
model = Attn().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
if args.fp16:
    try:
        from apex import amp
    except ImportError:
        raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step in range(4):
    loss = model(torch.randn(2, 3, 4).cuda()).pow(2).mean()
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, "%.6f" % loss.item())
