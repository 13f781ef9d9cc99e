from torchlars import LARS as LARC

optimizer = LARC(optimizer, trust_coef=0.001)
