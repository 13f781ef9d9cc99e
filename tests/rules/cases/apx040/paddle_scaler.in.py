# replaces apex
import paddle

scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
scaled = scaler.scale(loss)
scaled.backward()
scaler.minimize(optimizer, scaled)
