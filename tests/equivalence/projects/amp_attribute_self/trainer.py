import torch.nn.functional as F


class Trainer:
    def __init__(self, args, model, optimizer):
        self.args = args
        self.model = model
        self.optimizer = optimizer
        self.amp = None
        if args.fp16:
            try:
                from apex import amp
                self.amp = amp
            except ImportError:
                raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
            self.model, self.optimizer = self.amp.initialize(self.model, self.optimizer, opt_level=args.fp16_opt_level)
