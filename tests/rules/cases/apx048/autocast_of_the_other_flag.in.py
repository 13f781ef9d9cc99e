# expect: review chooses Apex: a run that chooses Apex there stops here now
# rule: APX047
import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer = model, optimizer
        self.use_apex = self.use_native = self.casts = False
        if args.backend == "native":
            self.use_native = True
            self.casts = True
            self.scaler = torch.amp.GradScaler("cuda")
        elif args.backend == "apex":
            self.use_apex = True
        if args.full:
            self.casts = True
        if self.use_apex:
            self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def step(self, images, labels):
        if self.casts and images.is_cuda:
            context = torch.autocast("cuda", dtype=torch.float16)
        else:
            context = torch.no_grad()
        with context:
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        if self.use_native:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
