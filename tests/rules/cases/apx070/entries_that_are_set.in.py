# expect: manual
import torch
from apex import amp

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
state = amp.state_dict()
state["loss_scaler0"]["loss_scale"] = 128.0
amp.load_state_dict(state)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
