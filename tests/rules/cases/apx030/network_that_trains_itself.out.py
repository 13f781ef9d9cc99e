import torch


class Meta(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def forward(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


meta = Meta(build())
losses = []
for x, y in loader:
    losses.append(meta(x, y))
