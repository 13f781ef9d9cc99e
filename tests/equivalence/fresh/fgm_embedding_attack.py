# expect: review: these gradients are still scaled here, as another backward adds to the

"""text classification + FGM (fast gradient method on word embeddings), kaggle style"""
import torch, torch.nn as nn
from apex import amp

device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

class FGM():
    def __init__(self, model):
        self.model = model
        self.backup = {}

    def attack(self, epsilon=1., emb_name='word_emb'):
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                self.backup[name] = param.data.clone()
                norm = torch.norm(param.grad)
                if norm != 0 and not torch.isnan(norm):
                    r_at = epsilon * param.grad / norm
                    param.data.add_(r_at)

    def restore(self, emb_name='word_emb'):
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                assert name in self.backup
                param.data = self.backup[name]
        self.backup = {}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_emb = nn.Embedding(40, 6, padding_idx=0)
        self.fc1 = nn.Linear(6, 10)
        self.fc2 = nn.Linear(10, 3)

    def forward(self, x):
        e = self.word_emb(x)
        h, _ = torch.max(torch.relu(self.fc1(e)), 1)
        return self.fc2(h)

def main():
    torch.manual_seed(2020)
    net = Net().to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    net, opt = amp.initialize(net, opt, opt_level='O1', verbosity=0)
    crit = nn.CrossEntropyLoss().to(device)
    fgm = FGM(net)
    xs = torch.randint(0, 40, (6, 8, 5))
    ys = torch.randint(0, 3, (6, 8))
    log = []
    for it, (x, y) in enumerate(zip(xs, ys)):
        net.train()
        x, y = x.to(device), y.to(device)
        opt.zero_grad()
        loss = crit(net(x), y)
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        # attack on the embedding layer, gradients of the attack accumulate on the normal ones
        fgm.attack(epsilon=0.5)
        loss_adv = crit(net(x), y)
        with amp.scale_loss(loss_adv, opt) as scaled_loss:
            scaled_loss.backward()
        fgm.restore()
        opt.step()
        log.append([loss.item(), loss_adv.item()])
    net.eval()
    with torch.no_grad():
        acc = (net(xs[0]).argmax(1) == ys[0]).float().mean()
    return log, acc, net.word_emb.weight, net.fc1.weight, net.fc2.bias

if __name__ == '__main__':
    print(main())
