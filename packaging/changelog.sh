#!/bin/sh
# changelog.sh VERSION: debian/changelog of this tree. What changed is told by
# CHANGELOG.md.
set -eu
maintainer=$(sed -n 's/^Maintainer: //p' "$(dirname "$0")/debian/control")
cat <<END
lunarray ($1) unstable; urgency=medium

  * Version $1: see CHANGELOG.md.

 -- $maintainer  $(git log -1 --format=%aD)
END
