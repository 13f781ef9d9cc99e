from torchlars import LARS

optimizer = LARS(optimizer, trust_coef=0.001)
