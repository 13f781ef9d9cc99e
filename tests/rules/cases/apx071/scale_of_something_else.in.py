# apex's LossScaler was like this one
class LossScaler:
    loss_scale = 1.0


print(LossScaler().loss_scale)
