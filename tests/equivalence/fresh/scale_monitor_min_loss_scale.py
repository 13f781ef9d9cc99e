# expect: review: max_loss_scale=2. ** 16: GradScaler has no upper bound

"""Language-model training under a watchdog: reads the loss scale from amp's state, logs scaled losses, gives up after repeated overflows."""
import collections

import torch
from torch import nn, optim
from apex import amp
from apex.amp._amp_state import _amp_state


class NGram(nn.Module):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.linear1 = nn.Linear(context_size * embedding_dim, 16)
        self.linear2 = nn.Linear(16, vocab_size)

    def forward(self, inputs):
        e = self.embeddings(inputs).view(inputs.size(0), -1)
        return torch.log_softmax(self.linear2(torch.relu(self.linear1(e))), dim=1)


def current_scale():
    if hasattr(amp, "_amp_state"):
        return _amp_state.loss_scalers[0].loss_scale()
    return 1.0


def fit(model, optimizer, stream, max_bad=3, clip=0.5):
    history = collections.defaultdict(list)
    nll, bad = nn.NLLLoss(), 0
    for step, (ctx, nxt, factor) in enumerate(stream):
        old = current_scale()
        optimizer.zero_grad()
        loss = nll(model(ctx), nxt) * factor
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            history["ratio"].append(float(scaled_loss.item() == loss.item() * old))
            scaled_loss.backward()
        norm = nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
        optimizer.step()
        if current_scale() < old or not torch.isfinite(norm):
            bad += 1
            if bad >= max_bad:
                history["stopped"].append(step)
                break
            continue
        bad = 0
        history["loss"].append(loss.item())
        history["norm"].append(norm.item())
    history["scale"].append(current_scale())
    return history


def main():
    torch.manual_seed(21)
    model = NGram(15, 6, 2)
    optimizer = optim.Adam(model.parameters(), lr=0.02, amsgrad=True)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic", min_loss_scale=2. ** 15,
                                      max_loss_scale=2. ** 16, verbosity=0)
    factors = [1.0, 1e38, 1e38, 1.0, 1.0, 1e38, 1e38, 1e38, 1.0]
    stream = [(torch.randint(0, 15, (7, 2)), torch.randint(0, 15, (7,)), f) for f in factors]
    h = fit(model, optimizer, stream)
    return h["loss"], h["norm"], h["stopped"], h["scale"], sum(h["ratio"]), list(model.parameters())


if __name__ == "__main__":
    main()
