# expect: review no loss is scaled
import torch
from apex import amp


class Transcriber:
    def __init__(self, net, path):
        checkpoint = torch.load(path)
        self.net = amp.initialize(net.cuda(), opt_level="O1")
        self.net.load_state_dict(checkpoint["model"])
        amp.load_state_dict(checkpoint["amp"])
        self.net.eval()

    def run(self, loader):
        return torch.cat([self.net(x).float() for x in loader])
