# expect: review: several optimizers share this loss: on overflow Apex left out all thei

"""CTR model: dense part by SGD, embeddings by Adagrad, one loss for both."""
import argparse
import numpy as np
import torch
import torch.nn as nn
from apex import amp


class DLRM_Net(nn.Module):
    def __init__(self, m_spa, ln_emb, ln_bot, ln_top):
        super(DLRM_Net, self).__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb)
        self.bot_l = self.create_mlp(ln_bot)
        self.top_l = self.create_mlp(ln_top, sigmoid=True)

    def create_mlp(self, ln, sigmoid=False):
        layers = nn.ModuleList()
        for i in range(len(ln) - 1):
            layers.append(nn.Linear(int(ln[i]), int(ln[i + 1])))
            if i < len(ln) - 2 or not sigmoid:
                layers.append(nn.ReLU())
        return nn.Sequential(*layers)

    def interact_features(self, x, ly):
        batch_size, d = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        return torch.cat([x] + [Z[:, li, lj]], dim=1)

    def forward(self, dense_x, lS_i):
        x = self.bot_l(dense_x)
        ly = [E(lS_i[k].unsqueeze(1)) for k, E in enumerate(self.emb_l)]
        return self.top_l(self.interact_features(x, ly))


def roc_auc(y, s):
    pos, neg = s[y == 1], s[y == 0]
    return np.mean([(p > n) + 0.5 * (p == n) for p in pos for n in neg])


def make_data(rng, n):
    X = torch.from_numpy(rng.rand(n, 3).astype(np.float32))
    S = torch.from_numpy(np.stack([rng.randint(0, 5, n), rng.randint(0, 7, n)]))
    T = ((X[:, 0] + S[0].float() / 5) > 0.9).float().unsqueeze(1)
    return X, S, T


def main():
    parser = argparse.ArgumentParser(description="Train Deep Learning Recommendation Model (DLRM)")
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--mini-batch-size", type=int, default=6)
    parser.add_argument("--num-batches", type=int, default=6)
    parser.add_argument("--test-freq", type=int, default=3)
    parser.add_argument("--lr-num-warmup-steps", type=int, default=3)
    parser.add_argument("--use-amp", action="store_true", default=False)
    args = parser.parse_args(["--use-amp"])

    np.random.seed(123)
    torch.manual_seed(123)
    rng = np.random.RandomState(123)
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    dlrm = DLRM_Net(4, [5, 7], [3, 8, 4], [4 + 3, 8, 1]).to(device)
    dense_params = list(dlrm.bot_l.parameters()) + list(dlrm.top_l.parameters())
    optimizer = torch.optim.SGD(dense_params, lr=args.learning_rate)
    emb_optimizer = torch.optim.Adagrad(dlrm.emb_l.parameters(), lr=args.learning_rate)
    if args.use_amp:
        dlrm, optims = amp.initialize(dlrm, [optimizer, emb_optimizer], opt_level="O1")
        optimizer, emb_optimizer = optims
    else:
        optims = [optimizer, emb_optimizer]
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / args.lr_num_warmup_steps))
    loss_fn = nn.BCEWithLogitsLoss(reduction="mean")
    test = make_data(rng, 10)
    total, aucs = [], []
    for j in range(args.num_batches):
        X, S, T = make_data(rng, args.mini_batch_size)
        if j == 2:
            X[0] = X[0] * 3e38 * 10  # unnormalised counter
        Z = dlrm(X.to(device), S.to(device))
        E = loss_fn(Z, T.to(device))
        L = E.detach().cpu().numpy()
        for o in optims:
            o.zero_grad()
        if args.use_amp:
            with amp.scale_loss(E, optims) as scaled_loss:
                scaled_loss.backward()
        else:
            E.backward()
        optimizer.step()
        emb_optimizer.step()
        warmup.step()
        total.append(float(np.nan_to_num(L, posinf=-1.0)))
        if (j + 1) % args.test_freq == 0:
            dlrm.eval()
            with torch.no_grad():
                score = torch.sigmoid(dlrm(test[0].to(device), test[1].to(device))).cpu().numpy()[:, 0]
            dlrm.train()
            aucs.append(roc_auc(test[2].numpy()[:, 0], score))
            print("Finished iteration {}/{}, auc {:.4f}".format(j + 1, args.num_batches, aucs[-1]))
    return total, aucs, warmup.get_last_lr(), list(dlrm.parameters())


if __name__ == "__main__":
    main()
