# expect: safe
# shape: initialize inside a loop over folds, a new model and optimizer each time

import torch
import torch.nn as nn
from apex import amp


def get_model(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1)).cuda()


def main():
    torch.manual_seed(52)
    X, Y = torch.randn(12, 4), torch.rand(12, 1)
    scores = []
    for fold in range(3):
        print("Fold", fold)
        model = get_model(3 + fold)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
        keep = torch.arange(12) % 3 != fold
        for epoch in range(3):
            out = model(X[keep].cuda())
            loss = nn.functional.binary_cross_entropy_with_logits(out, Y[keep].cuda())
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = nn.functional.binary_cross_entropy_with_logits(model(X[~keep].cuda()), Y[~keep].cuda())
        scores.append(val.item())
        print("val loss %.6f" % scores[-1])
    print("mean %.6f" % (sum(scores) / len(scores)))


if __name__ == '__main__':
    main()
