import extension
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Pool(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, x, offset):
        ctx.save_for_backward(x, offset)
        return extension.pool_forward(x, offset)

    @staticmethod
    @once_differentiable
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        x, offset = ctx.saved_tensors
        return extension.pool_backward(grad, x, offset)


model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, offset in loader:
    with torch.autocast("cuda", dtype=torch.float16):
        loss = Pool.apply(model(x), offset).sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
