import torch
from apex import amp
from layers import LAYERS

model_class, tokenizer_class = MODELS[args.kind]
tokenizer = tokenizer_class.from_pretrained(args.path)
tokens = tokenizer.encode("a text")
model = model_class.from_pretrained(args.path).cuda()
heads = []
heads.append(LAYERS[args.head](16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    heads.append(LAYERS[args.head](16, 4))
    print(tokenizer.decode(best))
