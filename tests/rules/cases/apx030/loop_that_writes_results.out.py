import torch
from scipy.io import wavfile


def main(args, model, loader, mels, names):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.l1_loss(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.no_grad():
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            output = model(mels)
        for index, (wave, name) in enumerate(zip(output.float().cpu().numpy(), names)):
            path = "{}/{}_{}.wav".format(
                args.folder,
                name,
                index,
            )
            wavfile.write(path, args.rate, (wave * 32767.5).astype("int16"))
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
        for row in model(mels).argmax(1).tolist():
            print(row)
