import torch
from compat import is_apex_available

if is_apex_available():
    from apex import amp


def train(fp16):
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    if fp16 and not is_apex_available():
        raise RuntimeError("apex is needed")
    if fp16:
        model, opt = amp.initialize(model, opt, opt_level="O1")
    h = []
    for i in range(5):
        loss = model(torch.randn(6, 5)).pow(2).mean()
        if i == 2:
            loss = loss * 1e36
        opt.zero_grad()
        if fp16:
            with amp.scale_loss(loss, opt) as s:
                s.backward()
        else:
            loss.backward()
        opt.step()
        h.append(loss.item())
    return [h, list(model.parameters())]
