import torch


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model.cuda(), optimizer
        self.scaler = torch.amp.GradScaler("cuda")
        self.criterion = torch.nn.CrossEntropyLoss()

    def forward_pass(self, x, y):
        self.optimizer.zero_grad()
        loss = 0
        loss += self.criterion(self.model(x), y)
        return loss

    def train(self, loader):
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = self.forward_pass(x, y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()


net = torch.nn.Linear(4, 4)
Trainer(net, torch.optim.SGD(net.parameters(), lr=0.1)).train(batches())
