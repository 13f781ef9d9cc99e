"""A stand-in for the submodule: a spectrogram of eight bands."""

import torch


class TacotronSTFT:
    def __init__(self, filter_length=1024, hop_length=256, **options):
        self.length, self.hop = filter_length, hop_length

    def mel_spectrogram(self, audio):
        window = torch.hann_window(self.length)
        found = torch.stft(audio, self.length, self.hop, window=window, return_complex=True).abs()
        return torch.log(found[:, 1:513].reshape(found.shape[0], 8, 64, -1).mean(2) + 1e-5)
