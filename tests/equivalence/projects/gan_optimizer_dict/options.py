class Options:
    fp16 = True
    lr = 0.01
    nz = 2
