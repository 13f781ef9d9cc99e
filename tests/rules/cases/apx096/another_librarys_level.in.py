parser.add_argument("--level", default="O1", help="level of the apex of the heart")
args = parser.parse_args()
model = compile(model, opt_level=args.level)
