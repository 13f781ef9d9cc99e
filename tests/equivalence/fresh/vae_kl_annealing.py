# expect: review: results leave autocast in float16; Apex handed them on in float32 (its

from __future__ import print_function
import argparse
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F
from apex import amp

parser = argparse.ArgumentParser(description='VAE MNIST Example')
parser.add_argument('--batch-size', type=int, default=4)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--anneal', type=int, default=4, help='KL warmup iterations')
parser.add_argument('--log-interval', type=int, default=1)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(16, 8)
        self.fc21 = nn.Linear(8, 2)
        self.fc22 = nn.Linear(8, 2)
        self.fc3 = nn.Linear(2, 8)
        self.fc4 = nn.Linear(8, 16)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5*logvar)
        eps = torch.randn_like(std)
        return mu + eps*std

    def decode(self, z):
        return self.fc4(F.relu(self.fc3(z)))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 16))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar, beta):
    BCE = F.binary_cross_entropy_with_logits(recon_x, x.view(-1, 16), reduction='sum')
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + beta * KLD


def main():
    args = parser.parse_args([])
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = (torch.rand(12, 1, 4, 4) > 0.5).float()
    train_loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), batch_size=args.batch_size, shuffle=True)
    test_loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data[:6]), batch_size=3)
    model = VAE().to(device)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    global_step = 0
    averages = []

    def train(epoch):
        nonlocal global_step
        model.train()
        train_loss = 0
        for batch_idx, (data,) in enumerate(train_loader):
            data = data.to(device)
            optimizer.zero_grad()
            recon_batch, mu, logvar = model(data)
            beta = min(1.0, global_step / args.anneal)
            loss = loss_function(recon_batch, data, mu, logvar, beta)
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            train_loss += loss.item()
            optimizer.step()
            global_step += 1
            if batch_idx % args.log_interval == 0:
                print('Train Epoch: {} [{}/{}]\tLoss: {:.6f}'.format(
                    epoch, batch_idx * len(data), len(train_loader.dataset), loss.item() / len(data)))
        averages.append(train_loss / len(train_loader.dataset))

    def test(epoch):
        model.eval()
        test_loss = 0
        with torch.no_grad():
            for i, (data,) in enumerate(test_loader):
                data = data.to(device)
                recon_batch, mu, logvar = model(data)
                test_loss += loss_function(recon_batch, data, mu, logvar, 1.0).item()
        print('====> Test set loss: {:.4f}'.format(test_loss / len(test_loader.dataset)))
        return test_loss

    tests = []
    for epoch in range(1, args.epochs + 1):
        train(epoch)
        tests.append(test(epoch))
        with torch.no_grad():
            sample = torch.sigmoid(model.decode(torch.ones(2, 2).to(device))).cpu()
    return averages, tests, sample, list(model.parameters())


if __name__ == "__main__":
    main()
