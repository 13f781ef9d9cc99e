import torch

from optim import get_scheduler


def train(args, features, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, eps=1e-8)
    scheduler = get_scheduler(optimizer, args.warmup_steps)
    if args.fp16:
        try:
            from apex import amp
        except ImportError:
            raise ImportError("Please install apex from https://www.github.com/nvidia/apex to use fp16 training.")
        model, optimizer = amp.initialize(model, optimizer, opt_level=args.fp16_opt_level)
    if args.n_gpu > 1:
        model = torch.nn.DataParallel(model)
    global_step, tr_loss, logging_loss, logs = 0, 0.0, 0.0, []
    model.zero_grad()
    for _ in range(args.num_train_epochs):
        for step, batch in enumerate(features):
            model.train()
            inputs = {"input_ids": batch[0], "labels": batch[1]}
            outputs = model(**inputs)
            loss = outputs[0]
            if args.n_gpu > 1:
                loss = loss.mean()
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
                scheduler.step()
                model.zero_grad()
                global_step += 1
                if args.logging_steps > 0 and global_step % args.logging_steps == 0:
                    logs.append((tr_loss - logging_loss) / args.logging_steps)
                    logging_loss = tr_loss
    return global_step, tr_loss / global_step, logs


def evaluate(args, model, features):
    preds = []
    for ids, _ in features:
        model.eval()
        with torch.no_grad():
            preds.append(model(ids)[0])
    return torch.cat(preds)
