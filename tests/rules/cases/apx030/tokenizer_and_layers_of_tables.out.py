import torch
from layers import LAYERS

model_class, tokenizer_class = MODELS[args.kind]
tokenizer = tokenizer_class.from_pretrained(args.path)
tokens = tokenizer.encode("a text")
model = model_class.from_pretrained(args.path).cuda()
heads = []
heads.append(LAYERS[args.head](16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    heads.append(LAYERS[args.head](16, 4))
    print(tokenizer.decode(best))
