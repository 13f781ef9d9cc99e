import torch


class Trainer:
    def __init__(self, network, fp16):
        self.fp16 = fp16
        self.network = network
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

    def begin(self):
        self.scaler = torch.amp.GradScaler("cuda", enabled=bool(self.fp16))

    def run(self, loader):
        self.begin()
        for data, target in loader:
            self.optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16, enabled=self.scaler.is_enabled()):
                loss = torch.nn.functional.mse_loss(self.network(data), target)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
