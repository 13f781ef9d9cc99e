# expect: manual
from apex import amp

parser.add_argument("--level", default="O1", help="level of Apex")
args = parser.parse_args()
with amp.scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
