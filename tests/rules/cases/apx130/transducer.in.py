# rule: APX090
# expect: manual TransducerLoss has no counterpart
from apex.contrib.transducer import TransducerJoint, TransducerLoss

joint, loss = TransducerJoint(pack_output=True), TransducerLoss(packed_input=True)
