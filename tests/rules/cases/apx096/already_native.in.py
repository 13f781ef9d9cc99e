import torch

parser.add_argument("--level", default="O1", help="level of Apex")
args = parser.parse_args()
scaler = torch.amp.GradScaler("cuda", enabled=args.level != "O0")
