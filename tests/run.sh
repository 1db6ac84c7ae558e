#!/bin/sh
# Builds paddock and runs its tests. The last line is "N passed, N failed".
#
#   sh tests/run.sh [--quick] [--asan | --tsan] [--teardown] [--clang] [--no-install] [filter…]
#   sh tests/run.sh --tidy
#
#   --quick       leaves out what takes long: chaos, the installation, samples, headers alone, planted bugs, and most of
#                 the histories of locks on Redis
#   --asan        with g++'s address and undefined behaviour sanitizers
#   --tsan        with g++'s thread sanitizer: the tests that have several threads
#   --teardown    instead of the tests: every coroutine test is run again and again, and torn down
#                 after another of its steps each time; for PADDOCK_TEARDOWN_SECONDS each, if that is set
#   --clang       with clang 14 instead of g++
#   --tidy        instead of the tests: clang-tidy 14 over lib/, with the checks of .clang-tidy
#   --apart       compiles each source alone: what is joined otherwise saves most of the compiler's time, but a change
#                 of one source compiles its neighbours again
#   --build-only  builds and runs nothing
#   --no-install  does not check the installation
#   --werror      warnings are errors
#   --debug       with the debugger's information
#   --times       says which steps of the build and which tests took the longest
#   filter…       goes to `meson test`: names of tests, or --suite unit
#
# PADDOCK_BUILD names another build folder than build-<variant>.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/support/common.sh"

give_up() {
  show_times
  echo "$1" >&2
  echo "0 passed, 1 failed"
  exit 1
}

# meson itself is content if one of several names fits.
check_filter() { # filter…
  meson test -C "$build" --list >"$build/names" 2>/dev/null || return 0
  value=
  for word in "$@"; do
    case $word in
      --suite | --no-suite | --test-args | -t | -j | -n) value=yes; continue ;;
      -*) ;;
      *) [ -n "$value" ] || [ -n "$(sed -n "s,^.* / ,,;/^$word\$/p" "$build/names")" ] ||
        give_up "There is no test $word." ;;
    esac
    value=
  done
}

check_tidy() { # build folder
  export CXX=clang++-14
  configure "$1" -Dtests=disabled -Dsamples=disabled || give_up "The configuration failed."
  # Makes those files anew if lib/meson.build has changed since.
  run ninja -C "$1" build.ninja || give_up "The configuration failed."
  found=$1/meson-logs/clang-tidy.txt
  if run run-clang-tidy-14 -p "$1" -j "$(nproc)" -quiet -config "$(cat "$root/.clang-tidy")" paddock-unity \
    >"$found" 2>&1; then
    took clang-tidy
    show_times
    echo "1 passed, 0 failed"
    return
  fi
  took clang-tidy
  echo "===== clang-tidy"
  # Without the command lines, which have the whole configuration in them.
  sed -e '/^clang-tidy-14 /,/paddock-unity[0-9]*\.cpp$/d' -e '/ warnings generated\.$/d' "$found"
  echo "====="
  show_times
  echo "0 passed, 1 failed"
  return 1
}

sanitizer=
compiler=g++
werror=
quick=
no_install=
teardown=
build_only=
tidy=
apart=
debug=
all_times=
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  case $argument in
    --asan | --tsan) sanitizer=${argument#--} ;;
    --teardown) teardown=yes ;;
    --clang) compiler=clang++-14 ;;
    --tidy) tidy=yes compiler=clang++-14 ;;
    --werror) werror=yes ;;
    --quick) quick=yes ;;
    --no-install) no_install=yes ;;
    --build-only) build_only=yes ;;
    --apart) apart=yes ;;
    --debug) debug=yes ;;
    --times) all_times=yes ;;
    --help | -h) sed -n '2,/^set/s/^#\{0,1\} \{0,1\}//p' "$0" | sed '$d'; exit 0 ;;
    *) set -- "$@" "$argument" ;; # a filter
  esac
  left=$((left - 1))
done

variant=${sanitizer:-plain}
[ "$compiler" = g++ ] || variant=clang${sanitizer:+-$sanitizer}
[ -z "$tidy" ] || variant=tidy
build=${PADDOCK_BUILD:-$root/build-$variant${apart:+-apart}${debug:+-debug}${werror:+-werror}}
case $build in /*) ;; *) build=$PWD/$build ;; esac
patience=1
wrapper=
compiler_package=
[ "$compiler" = g++ ] || compiler_package=clang-14:clang++-14
[ -z "$sanitizer" ] || interop_packages='' install_packages='' browser_packages=''
[ -z "$quick" ] || browser_packages=''

packages="$server_packages $redis_packages $test_packages $install_packages $interop_packages $browser_packages"
[ -z "$tidy" ] || packages=$tidy_packages
# shellcheck disable=SC2086
need_packages $build_packages $compiler_package $packages || exit 1
took packages

[ -z "$quick" ] || set -- "$@" --no-suite slow
[ -z "$no_install" ] || set -- "$@" --no-suite install
options="-Dtests=enabled ${werror:+-Dwerror=true} ${apart:+-Dunity=off}"
flags=
# g++ has a tenth of its time for tidying its memory; with less of that it takes 0.5 GB more.
[ "$compiler" != g++ ] || flags="--param ggc-min-expand=200 --param ggc-min-heapsize=524288"
# What the debugger wants to know takes a third of the compiler's time.
[ -n "$debug" ] || options="$options -Ddebug=false"
# For clang it is the compiling that counts: its warnings do not depend on the optimisation.
[ "$compiler" = g++ ] || options="$options -Doptimization=0"
# The samples and the command are run in the plain build.
[ -z "$sanitizer" ] || options="$options -Dsamples=disabled -Dtools=disabled"
# A log shows functions; their lines cost a fifth of the compiler's time.
lines=-g1
[ -z "${CI:-}" ] || lines=-g0
case $sanitizer in
  asan)
    options="$options -Db_sanitize=address,undefined -Doptimization=1"
    # The checks that are left out double the time it takes to compile, and most of what they find
    # ends in a crash anyway. g++ sees uninitialised variables where the sanitizer has been at work.
    flags="$flags $lines -fno-sanitize-recover=all -fno-sanitize=null,alignment,object-size"
    flags="$flags -Wno-maybe-uninitialized"
    patience=4
    ;;
  tsan)
    options="$options -Db_sanitize=thread -Doptimization=1"
    flags="$flags $lines -Wno-tsan"
    patience=4
    # g++ 12's thread sanitizer does not cope with as many random address bits as newer kernels use.
    if setarch -R true 2>/dev/null; then wrapper="setarch -R"; fi
    ;;
esac
export CXX="$compiler" CXXFLAGS="${CXXFLAGS:-} $flags"
export ASAN_OPTIONS="detect_stack_use_after_return=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
export TSAN_OPTIONS="second_deadlock_stack=1:${TSAN_OPTIONS:-}"

# Killed test programs cannot remove their servers' folders: all of them are made in this one.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'end_child; rm -rf "$TMPDIR"' EXIT

if [ -n "$tidy" ]; then
  check_tidy "$build"
  exit
fi

# shellcheck disable=SC2086
configure "$build" $options || give_up "The configuration failed."
took configuration
# As many compilers as processors: joined files take a compiler up to 2 GB of memory.
export NINJA="$build/ninja"
printf '#!/bin/sh\nexec ninja -j%s "$@"\n' "$(nproc)" >"$NINJA"
chmod +x "$NINJA"
check_filter "$@"
# With a filter meson builds what these tests need, and no more.
rebuild=
if [ $# = 0 ] || [ -n "$build_only" ]; then
  run "$NINJA" -C "$build" || give_up "The build failed."
  rebuild=--no-rebuild
  took build
fi
[ -z "$build_only" ] || exit 0
# Most tests wait most of the time, torn down ones even more.
threads=$(($(nproc) * 2))
if [ -n "$teardown" ]; then
  threads=$(($(nproc) * 4))
  set -- --suite teardown "$@"
fi
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$threads}"
log=$build/meson-logs/testlog.json
rm -f "$log"
# shellcheck disable=SC2086
run $wrapper meson test -C "$build" $rebuild --timeout-multiplier "$patience" "$@" ||
  [ -f "$log" ] || give_up "meson test failed, or no test fits the filter."
[ -f "$log" ] || give_up "No test was run."
if [ -n "$rebuild" ]; then took tests; else took "build and tests"; fi
[ -z "$all_times" ] || python3 "$root/tests/support/times.py" "$build"
show_times
python3 "$root/tests/support/count.py" "$log"
