# expect: safe
# shape: one loop over phases; the forward in both arms of `if phase == "val"`, losses of several kinds, and an arm that
#        takes a batch of another loader, moves it and adds a loss of it
# casts: real
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
opt = parser.parse_args()
if opt.fp16:
    from apex import amp

torch.manual_seed(9)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
if opt.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
data = {p: [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(3)] for p in ("train", "val")}
more_loader = [torch.randn(4, 4) for _ in range(2)]
more = iter(more_loader)

for epoch in range(2):
    for phase in ("train", "val"):
        model.train(phase == "train")
        total = 0.0
        for x, y in data[phase]:
            x, y = x.cuda(), y.cuda()
            optimizer.zero_grad()
            if phase == "val":
                with torch.no_grad():
                    outputs = model(x)
            else:
                outputs = model(x)
            if epoch:
                soft = nn.functional.softmax(outputs, dim=1)
                loss = criterion(outputs, y) + soft.pow(2).sum()
            else:
                loss = criterion(outputs, y)
            if phase == "train" and epoch:
                try:
                    extra = next(more)
                except StopIteration:
                    more = iter(more_loader)
                    extra = next(more)
                extra = extra.cuda()
                print("extra %.4f" % extra.sum().item())
                out = model(extra)
                reg = nn.functional.kl_div(nn.functional.log_softmax(out, 1), nn.functional.softmax(out.detach(), 1))
                loss = loss + reg
            if phase == "train":
                if opt.fp16:
                    with amp.scale_loss(loss, optimizer) as scaled:
                        scaled.backward()
                else:
                    loss.backward()
                optimizer.step()
            total += loss.item()
        print("%s %.5f" % (phase, total))
