# packaging/local.mk -- recipes for packages, and a distribution that is the same whenever it is made.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

PACKAGING_FILES = \
	packaging/Containerfile \
	packaging/tlbgrind.nix \
	packaging/tlbgrind.spec

DEBIAN_FILES = \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libtlbsim-dev.examples \
	debian/libtlbsim-dev.install \
	debian/libtlbsim0.install \
	debian/not-installed \
	debian/rules \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/control \
	debian/tests/profile \
	debian/tlbgrind.docs \
	debian/tlbgrind.install \
	debian/tlbgrind.links \
	debian/tlbgrind.lintian-overrides

EXTRA_DIST += $(PACKAGING_FILES) $(DEBIAN_FILES)

# ---------------------------------------------------------------- a reproducible distribution
# The same commit gives the same bytes: no owner, one order, one time. That time is
# SOURCE_DATE_EPOCH, or that of the commit, or, outside of git, that of the distribution that this
# one is made from. All files have it, so make takes none of configure's files for outdated.

DIST_TIME = $${SOURCE_DATE_EPOCH:-`if test -e $(srcdir)/.git; then \
	git -C $(srcdir) log -1 --format=%ct; else stat -c %Y $(srcdir)/configure.ac; fi`}

am__tar = LC_ALL=C $${TAR-tar} --format=ustar --sort=name --mtime=@$(DIST_TIME) \
	--owner=0 --group=0 --numeric-owner --mode=u+rw,go-w,a+rX -chf - \
	-C "`dirname "$$tardir"`" "`basename "$$tardir"`"
