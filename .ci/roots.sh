# shellcheck shell=bash disable=SC2034
# .ci/roots.sh -- fresh roots of Debian releases, for .ci/releases and .ci/packages, which source it.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# TG_MIRROR: the URL of the packages. TG_ROOTS: the folder for the roots (build/releases), which the
# next run can have. A root is removed in the end. Kept are downloaded packages, and each root as it
# was before anything was built in it: it is taken again only while the mirror's signed list of all
# packages (InRelease) is the same to the byte. So sid is made anew with each change of sid.
#
# Who sources it has set $suite, the name in the lines PASS and FAIL.

top=$PWD
mirror=${TG_MIRROR:-http://deb.debian.org/debian}
roots=${TG_ROOTS:-$top/build/releases}
failed=0

as_root=
if [ "$(id -u)" -ne 0 ]; then as_root=sudo; fi

pass ()
{
   echo "PASS: $suite: $1"
}

# fail WHAT LOG
fail ()
{
   tail -n 40 "$2"
   echo "FAIL: $suite: $1"
   failed=1
}

# A mount name space of its own: whatever happens, nothing stays mounted.
# in_root ROOT COMMAND...
in_root ()
{
   # The shell that expands these is the one inside.
   # shellcheck disable=SC2016
   $as_root unshare --mount sh -c '
      root=$1
      shift
      mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
         exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb CI=true "$@"
   ' sh "$@" </dev/null
}

get_debootstrap ()
{
   command -v /usr/sbin/debootstrap >/dev/null && [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] && return
   $as_root apt-get update
   $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y debootstrap debian-archive-keyring
}

# gcc-multilib: the 32-bit tool is built, too.
options=(--variant=minbase --include=gcc-multilib)

# What a root is made of. Fails if the list cannot be had; then no root is taken again.
# made_of RELEASE FILE
made_of ()
{
   {
      echo "${options[*]} $mirror"
      wget -q -O - "$mirror/dists/$1/InRelease"
   } >"$2" && [ "$(wc -l <"$2")" -gt 1 ]
}

# A mirror may be of a day that is long past: roots mind that as apt does here.
# make_root RELEASE ROOT
make_root ()
{
   get_root "$@" &&
      apt-config dump Acquire::Check-Valid-Until | $as_root tee "$2/etc/apt/apt.conf.d/90valid-until" >/dev/null
}

# Sets $how. The list is read before the root is made: a root that is newer than its list is made
# anew once too often, and none is too old.
# get_root RELEASE ROOT
get_root ()
{
   local kept=$roots/$1.tar now=$roots/$1.list.now
   made_of "$1" "$now" || rm -f "$now"
   if [ -f "$now" ] && cmp -s "$now" "$roots/$1.list" && [ -f "$kept" ] && $as_root mkdir "$2" &&
      $as_root tar -x --numeric-owner -f "$kept" -C "$2"; then
      how="as kept, of today's list of packages"
      return
   fi
   how="made anew"
   $as_root rm -rf --one-file-system "$2"
   rm -f "$roots/$1.list"
   $as_root mkdir -p "$roots/debs-$1" &&
      $as_root /usr/sbin/debootstrap "${options[@]}" --cache-dir="$roots/debs-$1" \
         --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$1" "$2" "$mirror" </dev/null || return
   # What is not kept is made again.
   if [ -f "$now" ] && $as_root tar -c --numeric-owner -f "$kept" -C "$2" .; then mv "$now" "$roots/$1.list"; fi
   return 0
}

# Both a 64- and a 32-bit program. Every write of by_rows() is to another page than the last
# thousand: each of them walks, on a processor with fewer entries than that.
# Its arguments: docs/transpose.c, the command tlbgrind, and the folder of the companions.
# shellcheck disable=SC2016
profile='
   source=$1 tlbgrind=$2 companions=$3
   for bits in 64 32; do
      program=/root/transpose$bits
      gcc -m$bits -O2 -g $source -o $program || exit 1
      $tlbgrind -q --itlb=64,4 --dtlb=64,4 --faults=yes --tlbgrind-out-file=$program.out \
         --faults-out-file=$program.faults $program || exit 1
      walks=$($companions/tg_annotate --show=walks $program.out |
              sed -n "s/^ *\([0-9,]*\) .*transpose\.c:by_rows .*/\1/p" | head -n 1 | tr -d ,)
      echo "$bits bits: by_rows() has ${walks:-no} page walks"
      [ "${walks:-0}" -ge 1048576 ] && [ "$walks" -lt 1060000 ] || exit 1
      $companions/tg_faults $program.faults >$program.faults.txt || exit 1
      faults=$(sed -n "s/^summary\twarm\t\([0-9]*\).*/\1/p" $program.faults)
      echo "$bits bits: ${faults:-no} page faults"
      [ "${faults:-0}" -gt 4096 ] || exit 1
   done'
