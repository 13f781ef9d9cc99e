from mxnet.contrib import amp

with amp.scale_loss(loss, trainer) as scaled_loss:
    autograd.backward(scaled_loss)
