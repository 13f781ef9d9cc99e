# expect: manual apex.RNN has no counterpart in torch that takes its place as
# expect: manual apex.RNN.LSTM has no counterpart in torch that takes its pla
from apex import RNN

model = RNN.LSTM(8, 8, 2)
