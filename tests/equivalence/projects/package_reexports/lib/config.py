class Config:
    fp16 = True
    epochs = 2
    lr = 0.1
    grad_clip = 1.0
