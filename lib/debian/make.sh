#!/bin/sh
# Makes Debian packages of this source tree: the source package, libpaddock0.2, libpaddock-dev and paddock-tools.
#
#   sh lib/debian/make.sh FOLDER [options of dpkg-buildpackage…]     # -S: the source package only
#
# FOLDER must be new, or empty. DEBFULLNAME and DEBEMAIL name the one who makes the packages.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
shift

version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")
# As in lib/meson.build.
case $version in
  0.*) soversion=${version%.*} ;;
  *) soversion=${version%%.*} ;;
esac
maintainer="${DEBFULLNAME:-the paddock maintainers} <${DEBEMAIL:-paddock@localhost}>"
time=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/meson.build")}

mkdir -p "$folder"
[ -z "$(ls -A "$folder")" ] || {
  echo "$folder is not empty" >&2
  exit 1
}
folder=$(cd "$folder" && pwd)
tree=$folder/paddock-$version
archive=$folder/paddock_$version.orig.tar.gz

# Everything but hidden files and build folders.
tar -C "$root" --exclude='./.?*' --exclude='./build*' --exclude=.wraplock --exclude=__pycache__ \
  --transform="s,^\.,paddock-$version," --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" \
  -cf - . | gzip -n >"$archive"
tar -C "$folder" -xf "$archive"

cp -r "$root/lib/debian" "$tree/debian"
cd "$tree/debian"
rm make.sh
mv libpaddock.install "libpaddock$soversion.install"
sed -i "s|@VERSION@|$version|g; s|@SOVERSION@|$soversion|g; s|@MAINTAINER@|$maintainer|g
  s|@DATE@|$(LC_ALL=C date -R -u -d "@$time")|g" changelog control
sed 's/^$/./; s/^/ /' "$root/LICENSE" >>copyright
chmod +x rules

cd "$tree"
dpkg-buildpackage -us -uc "$@"
