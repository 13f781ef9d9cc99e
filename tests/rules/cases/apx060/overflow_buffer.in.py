# expect: manual
import torch
from apex import amp

model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer, delay_overflow_check=True) as scaled_loss:
        scaled_loss.backward()
    had_overflow = amp._amp_state.loss_scalers[0]._overflow_buf.item()
    if not had_overflow:
        optimizer.step()
    optimizer.zero_grad()
