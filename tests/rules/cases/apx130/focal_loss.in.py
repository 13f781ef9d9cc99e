# expect: manual apex.contrib.focal_loss.focal_loss.focal_loss has no counterpart
from apex.contrib.focal_loss.focal_loss import focal_loss

loss = focal_loss(logits, targets, count, 80, 0.25, 2.0, 0.0)
