import torch
from loops import Runner, build_hook

from apis.model import Detector

try:
    import apex
except ImportError:
    print("apex is not installed")


def train(config, loader):
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    if config["hook"].get("use_fp16", False):
        model, optimizer = apex.amp.initialize(model.cuda(), optimizer, opt_level="O1")
    runner = Runner(model, optimizer, build_hook(config["hook"]))
    runner.run(loader, config["epochs"])
    return runner
