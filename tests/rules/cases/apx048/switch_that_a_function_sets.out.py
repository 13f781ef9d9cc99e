import torch


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer = model, optimizer
        self.use_native = args.fp16 and args.backend == "native"
        self.use_apex = wants_apex(args)
        if self.use_native:
            self.scaler = torch.amp.GradScaler("cuda")
        if self.use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")

    def step(self, images, labels):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.use_native):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        if self.use_native:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            loss.backward()
        if self.use_native or self.use_apex:
            print("mixed")
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
