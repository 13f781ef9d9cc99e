import torch

try:
    from apex import amp

    _has_apex = True
except ImportError:
    _has_apex = False


def is_apex_available():
    return _has_apex


class Base:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.losses = []
        self.use_apex = False
        self.use_amp = False
        self.fp16_backend = None
        if args.fp16:
            self.fp16_backend = "amp" if args.fp16_backend == "auto" else args.fp16_backend
        if args.fp16:
            if self.fp16_backend == "amp":
                self.use_amp = True
                self.scaler = torch.amp.GradScaler("cuda")
            else:
                if not is_apex_available():
                    raise ImportError("Using FP16 with APEX but APEX is not installed")
                self.use_apex = True

    def wrap_model(self, model, training=True):
        if self.use_apex and training:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level=self.args.fp16_opt_level)
        return model

    def clip(self, model):
        if self.use_amp:
            # gradients need unscaling
            self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(
            amp.master_params(self.optimizer) if self.use_apex else model.parameters(),
            self.args.max_grad_norm,
        )

    def save(self):
        state = {"model": self.model.state_dict()}
        if self.use_amp:
            state["scaler"] = self.scaler.state_dict()
        elif self.use_apex:
            state["amp"] = amp.state_dict()
        return state
