# needs apex? no: lightning takes the step
import pytorch_lightning as pl


class Module(pl.LightningModule):
    def training_step(self, batch, index):
        x, y = batch
        return self.criterion(self.model(x), y)


pl.Trainer().fit(Module())
