from apex_trainer.amp import initialize, scale_loss
import apexpy

apexpy.Apex()
