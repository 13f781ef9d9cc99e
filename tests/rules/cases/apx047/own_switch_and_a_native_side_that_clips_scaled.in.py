# expect: manual beside Apex's side (`use_apex`) stands a native one that cou
import torch
from apex import amp


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer = model, optimizer
        self.use_native = args.backend == "native"
        self.use_apex = find_backend(args)
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
        if self.use_native:
            print("native")
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
