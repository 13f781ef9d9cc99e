# expect: manual
from apex import amp

parser.add_argument("--level", default="O1", help="level of Apex")
args = parser.parse_args()
net, optimizer = amp.initialize(net, optimizer, opt_level=args.level)
