import importlib
import torch
import torch.nn as nn
from loss.aamsoftmax import LossFunction
from apex import amp


class ResNetSE(nn.Module):
    def __init__(self, nOut):
        super(ResNetSE, self).__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 6, 3), nn.ReLU(inplace=True), nn.BatchNorm1d(6))
        self.fc = nn.Linear(12, nOut)

    def forward(self, x):
        h = self.conv(x.unsqueeze(1))
        return self.fc(torch.cat([h.mean(2), h.std(2)], 1))


class SpeakerNet(nn.Module):
    def __init__(self, nOut, nClasses, lr, lr_decay, mixedprec, **kwargs):
        super(SpeakerNet, self).__init__()
        self.__S__ = ResNetSE(nOut).cuda()
        self.__L__ = LossFunction(nOut=nOut, nClasses=nClasses, **kwargs).cuda()
        self.mixedprec = mixedprec
        self.__optimizer__ = torch.optim.Adam(self.parameters(), lr=lr)
        self.__scheduler__ = torch.optim.lr_scheduler.StepLR(self.__optimizer__, step_size=1, gamma=lr_decay)
        if self.mixedprec:
            (self.__S__, self.__L__), self.__optimizer__ = amp.initialize([self.__S__, self.__L__], self.__optimizer__, opt_level='O1', verbosity=0)

    def train_network(self, loader):
        self.train()
        counter = 0
        index = 0
        loss = 0
        top1 = 0
        for data, data_label in loader:
            data = data.transpose(0, 1)
            self.zero_grad()
            feat = []
            for inp in data:
                outp = self.__S__(inp.cuda())
                feat.append(outp)
            feat = torch.stack(feat, dim=1).squeeze()
            label = torch.LongTensor(data_label).cuda()
            nloss, prec1 = self.__L__(feat.mean(1), label)
            loss += nloss.detach().cpu().item()
            top1 += prec1.item()
            counter += 1
            index += data.size(1)
            if self.mixedprec:
                with amp.scale_loss(nloss, self.__optimizer__) as scaled_loss:
                    scaled_loss.backward()
            else:
                nloss.backward()
            self.__optimizer__.step()
        self.__scheduler__.step()
        return (loss / counter, top1 / counter)

    def evaluate(self, loader):
        self.eval()
        feats = []
        for data, _ in loader:
            with torch.no_grad():
                ref_feat = self.__S__(data[:, 0].cuda()).detach().cpu()
            feats.append(torch.nn.functional.normalize(ref_feat, p=2, dim=1))
        feats = torch.cat(feats)
        return (feats @ feats.t()).mean().item()

    def saveParameters(self, path):
        torch.save(self.state_dict(), path)

    def loadParameters(self, path):
        self_state = self.state_dict()
        loaded_state = torch.load(path)
        for name, param in loaded_state.items():
            origname = name
            if name not in self_state:
                name = name.replace("module.", "")
                if name not in self_state:
                    print("%s is not in the model." % origname)
                    continue
            self_state[name].copy_(param)
