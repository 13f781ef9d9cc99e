# expect: review: O2 made an fp16 model, autocast keeps fp32 weights
# shape: inference with O2, list of models, a chain of two networks

import torch
import torch.nn as nn
from apex import amp


def infer(tacotron, waveglow, text):
    with torch.no_grad():
        mel = tacotron(text)
        audio = waveglow(mel)
    return audio.float().cpu()


torch.manual_seed(146)
tacotron, waveglow = nn.Linear(3, 4).cuda().eval(), nn.Linear(4, 2).cuda().eval()
[tacotron, waveglow] = amp.initialize([tacotron, waveglow], opt_level="O2", verbosity=0)
for i in range(3):
    print(i, "%.6f" % infer(tacotron, waveglow, torch.randn(2, 3).cuda()).sum().item())
