# expect: manual apex.RNN is not migrated
from apex import RNN

model = RNN.LSTM(8, 8, 2)
