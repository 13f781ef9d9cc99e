# expect: unparsed
from apex import amp
print "apex"
