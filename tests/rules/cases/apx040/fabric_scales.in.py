# replaces apex.amp.scale_loss
from lightning.fabric import Fabric

fabric = Fabric(precision="16-mixed")
model, optimizer = fabric.setup(model, optimizer)
fabric.backward(loss)
optimizer.step()
