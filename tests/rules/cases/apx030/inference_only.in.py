# rule: APX030
import torch
from apex import amp

model = build().cuda().eval()
model = amp.initialize(model, opt_level="O1")
with torch.no_grad():
    for x in loader:
        output = model(x)
        print(output.argmax(1).tolist())
