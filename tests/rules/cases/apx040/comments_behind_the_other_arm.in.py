import torch
from apex import amp


def train(args, model, optimizer, loader):
    if args["fp16"]:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if args["fp16"]:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            # torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args["max_grad_norm"])
        else:
            loss.backward()
            # torch.nn.utils.clip_grad_norm_(
            #     model.parameters(), args["max_grad_norm"]
            # )

        print(loss.item())
        optimizer.step()
        model.zero_grad()


model = torch.nn.Linear(3, 2).cuda()
train({"fp16": True}, model, torch.optim.SGD(model.parameters(), lr=0.1), [])
