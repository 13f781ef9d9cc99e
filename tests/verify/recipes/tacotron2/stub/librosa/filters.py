import numpy


def mel(sampling_rate, filter_length, bands, low, high):
    return numpy.ones((bands, filter_length // 2 + 1), dtype=numpy.float32)
