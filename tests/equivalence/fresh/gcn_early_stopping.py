# expect: safe
# casts: real

import copy
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from apex import amp
    has_apex = True
except Exception:
    has_apex = False


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super(GraphConvolution, self).__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.zeros(out_features))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, edge_index, norm):
        support = torch.mm(x, self.weight)
        src, dst = edge_index
        msg = support[src] * norm.unsqueeze(-1)
        out = torch.zeros(x.size(0), support.size(1), dtype=msg.dtype, device=x.device)
        out.index_add_(0, dst, msg)
        return out + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()
        self.gc1, self.gc2 = GraphConvolution(nfeat, nhid), GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, edge_index, norm):
        x = F.relu(self.gc1(x, edge_index, norm))
        if self.dropout > 0:
            x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, edge_index, norm)
        return F.log_softmax(x, dim=1)


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.counter, self.best_score, self.best_state = patience, 0, None, None

    def __call__(self, score, model):
        if self.best_score is None or score < self.best_score - 1e-4:
            self.best_score, self.counter = score, 0
            self.best_state = copy.deepcopy(model.state_dict())
            return False
        self.counter += 1
        return self.counter >= self.patience


def load_data(n=12):
    torch.manual_seed(100)
    labels = torch.arange(n) % 3
    features = F.one_hot(labels, 3).float() + 0.5 * torch.randn(n, 3)
    features = torch.cat([features, torch.randn(n, 3)], 1)
    src = torch.arange(n)
    edge_index = torch.stack([torch.cat([src, src]), torch.cat([(src + 3) % n, src])])
    deg = torch.zeros(n).index_add_(0, edge_index[1], torch.ones(edge_index.size(1)))
    norm = deg.pow(-0.5)[edge_index[0]] * deg.pow(-0.5)[edge_index[1]]
    return features, edge_index, norm, labels, torch.arange(6), torch.arange(6, 9), torch.arange(9, n)


def accuracy(output, labels):
    return (output.max(1)[1] == labels).double().mean()


def main():
    args = SimpleNamespace(epochs=8, lr=0.2, weight_decay=5e-4, hidden=8, dropout=0.0, patience=2, opt_level="O1")
    features, edge_index, norm, labels, idx_train, idx_val, idx_test = load_data()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    features, edge_index, norm, labels = [t.to(device) for t in (features, edge_index, norm, labels)]
    model = GCN(features.shape[1], args.hidden, 3, args.dropout).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    if has_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    stopper = EarlyStopping(args.patience)
    trace = []
    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        output = model(features, edge_index, norm)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        if has_apex:
            with amp.scale_loss(loss_train, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss_train.backward()
        optimizer.step()
        with torch.no_grad():
            model.eval()
            output = model(features, edge_index, norm)
            loss_val = F.nll_loss(output[idx_val], labels[idx_val])
        trace.append((loss_train.item(), loss_val.item()))
        if stopper(loss_val.item(), model):
            print("early stop")
            break
    model.load_state_dict(stopper.best_state)
    model.eval()
    with torch.no_grad():
        output = model(features, edge_index, norm)
        acc_test = accuracy(output[idx_test], labels[idx_test])
    return trace, acc_test, output.dtype == torch.float32, list(model.parameters())


if __name__ == "__main__":
    main()
