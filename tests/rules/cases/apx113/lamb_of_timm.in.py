from timm.optim import Lamb, NovoGrad

optimizer = Lamb(model.parameters(), lr=1e-3)
