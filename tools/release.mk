# What is published of a version, in build/release: make release, once the tag is
# there (TAG=HEAD: a try before it). The repository's address stands here alone.
REPOSITORY ?= https://lunarray.invalid/lunarray
MAINTAINER ?= $(shell sed -n 's/^Maintainer: //p' packaging/debian/control)
TAG ?= v$(VERSION)
.PHONY: release
release:
	@tools/deps.sh build rock deb docs
	@REPOSITORY='$(REPOSITORY)' MAINTAINER='$(MAINTAINER)' tools/release.sh $(TAG) $(VERSION)
