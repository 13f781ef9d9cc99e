# rule: APX010
import torch
try:
    from apex import amp
    USE_APEX = True
except ImportError:
    USE_APEX = False
if args.full_precision:
    USE_APEX = False

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if USE_APEX:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if USE_APEX:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
