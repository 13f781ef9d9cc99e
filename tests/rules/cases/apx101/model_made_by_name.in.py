# expect: review
import torch
from apex.parallel import convert_syncbn_model
from models import *


def main(args, loader):
    model = eval(args.model)(classes=args.classes).cuda()
    model = convert_syncbn_model(model)
    for x in loader:
        model(x)
