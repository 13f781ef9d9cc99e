import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--resume", default="")


def main():
    args = parser.parse_args()
    model = torch.nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    use_amp = False
    if args.amp:
        use_amp = True
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
    state = {}
    if args.resume:
        state = torch.load(args.resume)
    if use_amp and "amp" in state:
        scaler.load_state_dict(state["amp"])
    for i in range(10):
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = model(torch.randn(4, 8).cuda()).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


main()
