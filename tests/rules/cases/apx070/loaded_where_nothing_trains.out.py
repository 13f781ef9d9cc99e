import torch


class Transcriber:
    def __init__(self, net, path):
        checkpoint = torch.load(path)
        self.net = net.cuda()
        self.net.load_state_dict(checkpoint["model"])
        self.net.eval()

    def run(self, loader):
        with torch.autocast("cuda", dtype=torch.float16):
            return torch.cat([self.net(x).float() for x in loader])
