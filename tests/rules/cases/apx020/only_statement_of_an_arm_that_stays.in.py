import torch

try:
    from apex import amp
except ImportError:
    amp = None


class Trainer:
    def __init__(self, network, fp16):
        self.fp16 = fp16
        self.network = network
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.1)

    def begin(self):
        if self.fp16:
            if amp is not None:
                self.network, self.optimizer = amp.initialize(self.network, self.optimizer)
            else:
                print("Apex is not installed")

    def run(self, loader):
        self.begin()
        for data, target in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.network(data), target)
            if not self.fp16 or amp is None:
                loss.backward()
            else:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            self.optimizer.step()
