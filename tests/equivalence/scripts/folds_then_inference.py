# expect: review: the model is called without casts, now under autocast
# shape: folds are trained under a condition on the fold; what comes behind the loop runs under the casts of the process
# argv:

import torch
import torch.nn as nn
from apex import amp


class CFG:
    apex = True
    train = True
    n_fold = 4
    trn_fold = [0, 1]


def train_loop(fold, batches):
    torch.manual_seed(fold)
    model = nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if CFG.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if CFG.apex:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(fold, '%.5f' % loss.item())
    return model


def inference(model, batches):
    with torch.no_grad():
        return sum(model(x).argmax(1).sum().item() for x, _ in batches)


def main():
    torch.manual_seed(2)
    batches = [(torch.randn(3, 4).cuda(), torch.randint(0, 2, (3,)).cuda()) for _ in range(3)]
    model = nn.Linear(4, 2).cuda()
    if CFG.train:
        for fold in range(CFG.n_fold):
            if fold in CFG.trn_fold:
                model = train_loop(fold, batches)
    print(inference(model, batches))


main()
