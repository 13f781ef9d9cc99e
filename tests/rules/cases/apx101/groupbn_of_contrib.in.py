# expect: manual apex.contrib.groupbn.BatchNorm2d_NHWC has no counterpart
from apex.contrib.groupbn import BatchNorm2d_NHWC

norm = BatchNorm2d_NHWC(64, fuse_relu=True, bn_group=1)
