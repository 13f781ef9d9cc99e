import torch


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
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")

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
            raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")
        else:
            loss.backward()
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
