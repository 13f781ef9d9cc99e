# expect: review chooses Apex: a run that chooses Apex there stops here now
# rule: APX047
import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer = model, optimizer
        self.use_native = args.fp16 and args.backend == "native"
        self.use_apex = args.fp16 and args.backend == "apex"
        if self.use_native:
            self.scaler = torch.amp.GradScaler("cuda")
        if self.use_apex:
            self.model, self.optimizer = amp.initialize(model, optimizer, opt_level="O1")

    def step(self, images, labels):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.use_native):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        if self.use_native:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        if self.use_native or self.use_apex:
            print("mixed", describe(apex=self.use_apex))
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
