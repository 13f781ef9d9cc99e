# expect: manual no call of the model was found that leads to it
import torch
from apex import amp


class ContentLoss(torch.nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = torch.nn.functional.mse_loss(x, self.target)
        return x


def build_parts(content):
    conv = torch.nn.Conv2d(3, 4, 3)
    parts = [ContentLoss(conv(content))]
    return torch.nn.Sequential(conv, *parts), parts


def main(content, rounds):
    model, parts = build_parts(content)
    painter = torch.nn.Conv2d(3, 3, 1)
    optimizer = torch.optim.Adam(painter.parameters())
    [painter, model], optimizer = amp.initialize([painter, model], optimizer, opt_level="O1")
    for _ in range(rounds):
        optimizer.zero_grad()
        model(painter(content))
        score = 0
        for part in parts:
            score += part.loss
        with amp.scale_loss(score, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
