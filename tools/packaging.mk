# Debian packages of this tree in build/deb, from what is built. They are made
# in a folder of their own with debian/ at its top, as dpkg-buildpackage wants.
deb: all
	@tools/deps.sh deb
	@rm -rf build/deb && mkdir -p build/deb/lunarray-$(VERSION)
	@git ls-files | cpio -pdm --quiet build/deb/lunarray-$(VERSION)
	@cp -a packaging/debian build/deb/lunarray-$(VERSION)/debian && ln -s ../.. build/deb/lunarray-$(VERSION)/build
	@packaging/changelog.sh $(VERSION) > build/deb/lunarray-$(VERSION)/debian/changelog
	cd build/deb/lunarray-$(VERSION) && dpkg-buildpackage -b -us -uc -d
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file build/deb/*.changes

# Bytes of what is installed, and of the kernels by folder and capability;
# SIZES_LIMIT: a module of more megabytes is an error.
sizes: all
	@STRIP=$(STRIP) $(LUA) tools/sizes.lua $(BUILD) $(SIZES_LIMIT)
