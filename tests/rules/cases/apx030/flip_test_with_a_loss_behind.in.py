import torch
from apex import amp
from options import flip_back

model = build().cuda()
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
with torch.no_grad():
    for x, y in loader:
        outputs = model(x)
        output = outputs[-1] if isinstance(outputs, list) else outputs
        if args.flip:
            flipped = model(x.flip(3))
            flipped = flipped[-1] if isinstance(flipped, list) else flipped
            back = torch.from_numpy(flip_back(flipped.float().cpu().numpy()))
            output = (output + back) * 0.5
        loss = criterion(output, y)
        losses.append(loss.item())
