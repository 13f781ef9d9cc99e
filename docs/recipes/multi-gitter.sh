#!/bin/sh
# multi-gitter run ./multi-gitter.sh --org mine --branch apex-to-native-amp --pr-title "Native AMP instead of Apex"
# It runs in each clone and commits what has changed; an exit code other than 0 leaves a repository out.
set -u
apex2native . --write --fix-packaging
case $? in
0 | 1) exit 0 ;; # 1: something is left by hand, and the rest is worth a pull request
*) exit 1 ;;
esac
