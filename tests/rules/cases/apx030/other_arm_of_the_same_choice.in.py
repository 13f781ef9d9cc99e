# expect: review now .float() does
import torch
from apex import amp


def evaluate(args, loader):
    if args.network == "fasterrcnn":
        model = torch.nn.Linear(4, 2).cuda()
    elif args.network == "effdet":
        model = torch.nn.Linear(4, 3).cuda()
        if args.use_amp:
            model = amp.initialize(model, opt_level="O1")
    else:
        raise ValueError(args.network)
    found = []
    for images in loader:
        if args.network == "fasterrcnn":
            with torch.no_grad():
                found.append(model(images).cpu().numpy())
        else:
            with torch.set_grad_enabled(False):
                found.append(model(images).cpu().numpy())
    return found
