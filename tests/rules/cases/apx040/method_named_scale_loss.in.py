# apex-like, but its own
with self.precision.scale_loss(loss, self.optimizer) as scaled_loss:
    scaled_loss.backward()
self.optimizer.step()
