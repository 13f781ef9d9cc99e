#!/bin/sh
# multi-gitter run "$PWD/multi-gitter.sh" --manual-commit --org mine --branch apex-to-native-amp --draft
#
# multi-gitter runs this in each clone. An exit code other than 0 leaves a repository out and is reported. With
# --manual-commit the commit is made here, and its message becomes the title and the text of the pull request.
set -u

message=$(mktemp) || exit 2
trap 'rm -f "$message"' EXIT
printf '%s\n\n' 'Native AMP instead of NVIDIA Apex' >"$message"

apex2native . --write --fix-packaging --format markdown >>"$message"
code=$?
[ "$code" -le 1 ] || exit "$code" # 1: something is left by hand, which the text names

# Only what git knows already: nothing of a run that somebody made by hand slips in.
git add --update || exit 2
git diff --cached --quiet && exit 0 # nothing to migrate: no commit, no pull request
git commit --quiet --cleanup=verbatim --file "$message"
