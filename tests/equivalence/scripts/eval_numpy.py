# expect: review: outputs in half are turned into float32 before .numpy()
# shape: HuggingFace evaluate() with logits.detach().cpu().numpy(), O1's Tensor.cpu gave float32
# casts: real
# argv: --fp16
# argv:

import argparse

import numpy as np
import torch
import torch.nn as nn


def evaluate(args, model, eval_batches):
    eval_loss, nb_eval_steps = 0.0, 0
    preds = None
    out_label_ids = None
    for batch in eval_batches:
        model.eval()
        batch = tuple(t.to(args.device) for t in batch)

        with torch.no_grad():
            logits = model(batch[0])
            tmp_eval_loss = nn.functional.cross_entropy(logits, batch[1])
            eval_loss += tmp_eval_loss.mean().item()
        nb_eval_steps += 1
        if preds is None:
            preds = logits.detach().cpu().numpy()
            out_label_ids = batch[1].detach().cpu().numpy()
        else:
            preds = np.append(preds, logits.detach().cpu().numpy(), axis=0)
            out_label_ids = np.append(out_label_ids, batch[1].detach().cpu().numpy(), axis=0)

    eval_loss = eval_loss / nb_eval_steps
    print("dtype", preds.dtype, "sum %.6f" % preds.sum())
    preds = np.argmax(preds, axis=1)
    return {"acc": float((preds == out_label_ids).mean()), "loss": eval_loss}


def train(args, model, batches):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    model.zero_grad()
    for step, batch in enumerate(batches):
        model.train()
        batch = tuple(t.to(args.device) for t in batch)
        loss = nn.functional.cross_entropy(model(batch[0]), batch[1])
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        model.zero_grad()
        print("step %d loss %.6f" % (step, loss.item()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    args = parser.parse_args()
    args.device = torch.device("cuda")
    torch.manual_seed(105)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3)).to(args.device)
    data = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(4)]
    train(args, model, data)
    print(sorted(evaluate(args, model, data).items()))
