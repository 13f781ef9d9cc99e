# expect: manual this is not how FusedSGD of Apex 25.05 is called
from apex.optimizers import FusedSGD

optimizer = FusedSGD(model.parameters(), lr=0.1, foreach=True)
