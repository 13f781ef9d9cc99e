# expect: review results leave autocast in float16; Apex handed them on in fl
import torch
from apex import amp
from scipy.io import wavfile


def main(args, model, loader, mels, names):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.l1_loss(model(x), y)
        optimizer.zero_grad()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        optimizer.step()
    with torch.no_grad():
        for index, (wave, name) in enumerate(zip(model(mels).cpu().numpy(), names)):
            path = "{}/{}_{}.wav".format(
                args.folder,
                name,
                index,
            )
            wavfile.write(path, args.rate, (wave * 32767.5).astype("int16"))
    for row in model(mels).argmax(1).tolist():
        print(row)
