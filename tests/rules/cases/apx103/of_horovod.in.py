import horovod.torch as hvd

hvd.allreduce(grad, op=hvd.Average)
