# expect: safe

# SQuAD-like span extraction. Optimizer/scheduler states found next to the model are loaded before amp.initialize.
import os
import tempfile
from argparse import Namespace

import torch
from torch import nn

try:
    from apex import amp
    _has_apex = True
except ImportError:
    _has_apex = False


class SpanModel(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.emb = nn.Embedding(31, hidden)
        self.conv = nn.Conv1d(hidden, hidden, 3, padding=1)
        self.qa_outputs = nn.Linear(hidden, 2)

    def forward(self, ids, start_positions=None, end_positions=None):
        h = torch.relu(self.conv(self.emb(ids).transpose(1, 2))).transpose(1, 2)
        start_logits, end_logits = self.qa_outputs(h).split(1, dim=-1)
        start_logits, end_logits = start_logits.squeeze(-1), end_logits.squeeze(-1)
        if start_positions is None:
            return start_logits, end_logits
        ignored_index = start_logits.size(1)
        start_positions = start_positions.clamp(0, ignored_index)
        end_positions = end_positions.clamp(0, ignored_index)
        loss_fct = nn.CrossEntropyLoss(ignore_index=ignored_index)
        return (loss_fct(start_logits, start_positions) + loss_fct(end_logits, end_positions)) / 2


def batches(n, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    for _ in range(n):
        yield (torch.randint(0, 31, (5, 9), generator=g),
               torch.randint(0, 5, (5,), generator=g),
               torch.randint(4, 12, (5,), generator=g))


def train(args, model):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)

    # Check if saved optimizer or scheduler states exist
    if os.path.isfile(os.path.join(args.model_dir, "optimizer.pt")):
        optimizer.load_state_dict(torch.load(os.path.join(args.model_dir, "optimizer.pt")))
        scheduler.load_state_dict(torch.load(os.path.join(args.model_dir, "scheduler.pt")))

    if args.fp16:
        if not _has_apex:
            raise ImportError("no apex")
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level, verbosity=0)

    losses = []
    accum = args.gradient_accumulation_steps
    data = list(batches(args.steps, args.seed))
    for step, (ids, s, e) in enumerate(data):
        model.train()
        loss = model(ids, s, e)
        if accum > 1:
            loss = loss / accum
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        losses.append(loss.item())
        # last incomplete group also makes a step
        if (step + 1) % accum == 0 or (len(data) <= accum and (step + 1) == len(data)):
            if args.fp16:
                nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_grad_norm)
            else:
                nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            optimizer.step()
            scheduler.step()
            model.zero_grad()

            out = args.model_dir
            model_to_save = model.module if hasattr(model, "module") else model
            torch.save(model_to_save.state_dict(), os.path.join(out, "pytorch_model.bin"))
            torch.save(optimizer.state_dict(), os.path.join(out, "optimizer.pt"))
            torch.save(scheduler.state_dict(), os.path.join(out, "scheduler.pt"))
    return losses, optimizer, scheduler


def evaluate(args, model):
    model.eval()
    best = []
    with torch.no_grad():
        for ids, _, _ in batches(2, 99):
            s, e = model(ids)
            best += (s.softmax(-1).unsqueeze(2) * e.softmax(-1).unsqueeze(1)).triu().flatten(1).argmax(-1).tolist()
    return best


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as tmp:
        args = Namespace(fp16=True, fp16_opt_level="O1", lr=0.02, gradient_accumulation_steps=2, max_grad_norm=1.0,
                         steps=5, seed=3, model_dir=tmp)
        # state of an "earlier run" without fp16
        torch.manual_seed(1)
        model = SpanModel().to(device)
        args.fp16 = False
        first, _, _ = train(args, model)
        args.fp16, args.seed = True, 4
        model2 = SpanModel().to(device)
        model2.load_state_dict(torch.load(os.path.join(tmp, "pytorch_model.bin")))
        second, optimizer, scheduler = train(args, model2)
        return first, second, evaluate(args, model2), scheduler.get_last_lr(), [p for p in model2.parameters()], \
            [optimizer.state[p]["exp_avg"] for p in optimizer.param_groups[0]["params"]]


if __name__ == "__main__":
    main()
