# expect: review decided at run time
# rule: APX020
import torch
from transformers.file_utils import is_apex_available, is_torch_tpu_available

if is_apex_available():
    from apex import amp


def train(args, model, optimizer, loader):
    if args.fp16:
        if not is_apex_available():
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level)
    model.zero_grad()
    for x in loader:
        loss = model(x).sum()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        model.zero_grad()
    return is_torch_tpu_available()
