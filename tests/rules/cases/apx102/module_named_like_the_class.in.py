# expect: manual left alone
from apex.parallel import LARC

optimizer = LARC.LARC(optimizer)  # apex2native: ignore
