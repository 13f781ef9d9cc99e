"""How `apex2native verify` is run on real repositories: one folder each.

    NAME/recipe.toml    the repository, the command, and what comes of it
    NAME/make.py        makes data: runs in a copy of `stub` (may be absent)
    NAME/stub/          stand-ins for packages and files that are missing here, laid over the tree

Nothing in them is of the repository. In `recipe.toml`:

    repository   owner/name; none for the example of this project
    commit       at which it was run
    tree         the folder in it that the command runs in (the root)
    needs        packages that have to be there
    command      {python} is this Python
    options      of verify
    verdict      what may come of it, one of "equal", "within noise", "parted"
    quantity     where it parts: the first quantity
    rule         where it parts: the rule of the review finding that names it, if one does
    steps        how many there are
    showed       what was learned
"""
