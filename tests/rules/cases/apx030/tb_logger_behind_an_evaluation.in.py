import torch
from apex import amp
from tools import TB_LOGGER, evaluate

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
found = evaluate(model, held_out)
TB_LOGGER.log_scaler_dict({f"valid/{name}": value for name, value in found.items()})
