# expect: review an entry for each loss was read here
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", num_losses=2)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
state = amp.state_dict()
print([state["loss_scaler%d" % i]["loss_scale"] for i in range(2)])
for i in range(2):
    print(state[f"loss_scaler{i}"]["loss_scale"], state["loss_scaler{}".format(i)]["unskipped"])
