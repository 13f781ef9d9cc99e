import torch


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args

    def train(self, loader):
        model, optimizer = self.model, torch.optim.SGD(self.model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda", enabled=bool(self.args.fp16))
        for x in loader:
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
                loss = model(x).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()


def main(model, args, loader, other):
    trainer = Trainer(model, args)
    trainer.train(loader)
    if other is not None:
        best_trainer = Trainer(other, args)
        print(best_trainer.model)
    with torch.no_grad(), torch.autocast(
        "cuda", dtype=torch.float16, enabled=bool(trainer.args.fp16)
    ):
        print(trainer.model(next(iter(loader))).sum())


if __name__ == "__main__":
    main(*parse())
