# expect: review Apex's conversion put every batch norm
import os, \
    apex


def made(net):
    return apex.parallel.convert_syncbn_model(net)
