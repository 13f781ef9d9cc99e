# expect: review: --fp16_opt_level is free text, a value O2 or O3 would be another precision
# shape: HuggingFace-style train(args, dataset, model) with no_decay groups, accumulation, scheduler; level without choices; the bound of the clip is never reached (parameters and groups differ in order, and so do norms in their last bit)
# argv:
# argv: --fp16
# argv: --fp16 --gradient_accumulation_steps 1 --fp16_opt_level O1
# argv: --fp16 --fp16_opt_level O2

import argparse
import logging
import random

import torch
from torch import nn
from torch.optim import AdamW
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, TensorDataset

logger = logging.getLogger(__name__)


def set_seed(args):
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    if args.n_gpu > 0:
        torch.cuda.manual_seed_all(args.seed)


class Classifier(nn.Module):
    def __init__(self, hidden=8, labels=2):
        super().__init__()
        self.embed = nn.Embedding(20, hidden)
        self.LayerNorm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, labels)

    def forward(self, input_ids, labels=None):
        logits = self.out(self.LayerNorm(self.embed(input_ids).mean(1)))
        return nn.functional.cross_entropy(logits, labels), logits


def train(args, train_dataset, model):
    """ Train the model """
    train_dataloader = DataLoader(train_dataset, sampler=SequentialSampler(train_dataset), batch_size=4)
    no_decay = ['bias', 'LayerNorm.weight']
    optimizer_grouped_parameters = [
        {'params': [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
         'weight_decay': 0.01},
        {'params': [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], 'weight_decay': 0.0}
    ]
    optimizer = AdamW(optimizer_grouped_parameters, lr=args.learning_rate, eps=1e-8)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (1 + step))
    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level)

    global_step = 0
    tr_loss = 0.0
    model.zero_grad()
    for step, batch in enumerate(train_dataloader):
        model.train()
        batch = tuple(t.to(args.device) for t in batch)
        outputs = model(input_ids=batch[0], labels=batch[1])
        loss = outputs[0]  # model outputs are always tuple in transformers (see doc)

        if args.n_gpu > 1:
            loss = loss.mean()  # mean() to average on multi-gpu parallel training
        if args.gradient_accumulation_steps > 1:
            loss = loss / args.gradient_accumulation_steps

        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

        tr_loss += loss.item()
        if (step + 1) % args.gradient_accumulation_steps == 0:
            if args.fp16:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.max_grad_norm)
            else:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)

            optimizer.step()
            scheduler.step()  # Update learning rate schedule
            model.zero_grad()
            global_step += 1
            print("global_step %d average loss %.6f" % (global_step, tr_loss / global_step))
    return global_step, tr_loss / global_step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", default=5e-2, type=float)
    parser.add_argument("--max_grad_norm", default=10.0, type=float)
    parser.add_argument('--gradient_accumulation_steps', type=int, default=2)
    parser.add_argument('--seed', type=int, default=42)
    parser.add_argument('--fp16', action='store_true')
    parser.add_argument('--fp16_opt_level', type=str, default='O1',
                        help="For fp16: Apex AMP optimization level selected in ['O0', 'O1', 'O2', and 'O3']."
                             "See details at https://nvidia.github.io/apex/amp.html")
    args = parser.parse_args()
    args.device, args.n_gpu = torch.device("cuda"), 1
    set_seed(args)
    dataset = TensorDataset(torch.randint(0, 20, (24, 5)), torch.randint(0, 2, (24,)))
    model = Classifier()
    model.to(args.device)
    global_step, tr_loss = train(args, dataset, model)
    print(" global_step = %s, average loss = %.6f" % (global_step, tr_loss))


if __name__ == "__main__":
    main()
