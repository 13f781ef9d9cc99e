# expect: review this framework was told to train with Apex at level "O1"; wh
# needs apex? no: lightning takes the step
import pytorch_lightning as pl


class Module(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        return self.criterion(self.model(x), y)


pl.Trainer(amp_backend="apex", amp_level="O1").fit(Module())
