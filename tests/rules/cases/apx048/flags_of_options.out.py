import torch


class Trainer:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer = model, optimizer
        self.use_native = (args.fp16 and args.backend == "native") or (args.fp16 and args.backend == "apex")
        if self.use_native:
            self.scaler = torch.amp.GradScaler("cuda")

    def step(self, images, labels):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.use_native):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        if self.use_native:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()
        if self.use_native:
            print("mixed")
        if self.use_native:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
