import torch

model = build().cuda().eval()
with torch.no_grad():
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            output = model(x)
        print(output.argmax(1).tolist())
