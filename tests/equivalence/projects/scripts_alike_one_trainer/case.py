# expect: safe
# shape: two scripts share a trainer, and evaluate without one where they do not train

import argparse
import torch
from torch import nn
import torch.nn.functional as F
from trainer import Trainer

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 3)
    def forward(self, x, y=None):
        logits = self.b(torch.relu(self.a(x)))
        return logits if y is None else F.cross_entropy(logits, y)

def run(args):
    data = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
    results = {}
    if args.do_train:
        model = Net()

        def step_callback(model, global_step):
            if global_step % 2 == 0:
                results[global_step] = evaluate(args, model, data)
                model.train()

        trainer = Trainer(args, model=model, dataloader=data, num_train_steps=4, step_callback=step_callback)
        trainer.train()
    model = None
    if args.do_eval:
        model = Net()
        results['eval'] = evaluate(args, model, data)
    return results

def evaluate(args, model, loader):
    out = []
    for x, y in loader:
        model.eval()
        with torch.no_grad():
            logits = model(x)
        out.append(logits.max(dim=1)[0].sum().item())
    return out

def main():
    torch.manual_seed(0)
    p = argparse.ArgumentParser()
    p.add_argument('--do_train', action='store_true')
    p.add_argument('--do_eval', action='store_true')
    p.add_argument('--fp16', action='store_true')
    p.add_argument('--max_grad_norm', type=float, default=1.0)
    out = []
    for argv in (['--do_eval'], ['--do_train', '--fp16', '--do_eval']):
        r = run(p.parse_args(argv))
        out += [r[k] for k in sorted(r, key=str)]
    return out
if __name__ == '__main__':
    main()
