#!/bin/sh
# ci.sh -- holds a program's TLB misses against a baseline that is kept in the repository.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.

# usage: sh ci.sh BASELINE PROGRAM [ARGUMENT...]
# Writes ci.md, a table for the merge request, and ci.out, the out-file of this run.
# Exit status: 0 within the limits, or there was no baseline, and there is one now;
# 3 a limit is exceeded; 1 something else is wrong: the program, the baseline, a file.

# What the misses may cost, of the time in percent, whatever they did before ...
share=${TLB_SHARE:-50}
# ... and how much each count may grow.
growth='--fail-above=L1tm>5% --fail-above=walks>5% --fail-above=Ir>5%'
# Not the host's: the counts must not depend on the machine that the job gets.
machine="--machine=${TLB_MACHINE:-skylake} --thp=madvise"
# The folder of the job, which names of sources and of the program begin with: a regular expression,
# if it is another one in each job.
folder=${TLB_FOLDER:-$PWD}

if [ $# -lt 2 ]; then
   echo 'usage: sh ci.sh BASELINE PROGRAM [ARGUMENT...]' >&2
   exit 1
fi
baseline=$1
shift
rm -f ci.md ci.out

# The variables of a job's environment lie on the program's stack, and so does the name of its folder.
# shellcheck disable=SC2086
env -i PATH="$PATH" PWD=/proc/self/cwd ${LD_LIBRARY_PATH+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} \
   tlbgrind -q $machine --log-file=ci.log --tlbgrind-out-file=ci.out "$@"
status=$?
if [ $status -ne 0 ]; then
   echo "ci.sh: the program's exit status is $status; ci.log has what tlbgrind says" >&2
   exit 1
fi
if ! [ -e "$baseline" ]; then
   cp ci.out "$baseline" || exit 1
   echo "ci.sh: $baseline is new: commit it" >&2
   exit 0
fi

# Both are held, so that the merge request has all that is exceeded.
tg_annotate --fail-above="share>$share" ci.out >/dev/null
now=$?
# shellcheck disable=SC2086
tg_annotate --diff --format=markdown --by=function --threshold=1 $growth \
   --mod-filename="s@^$folder/@@" "$baseline" ci.out >ci.md
grown=$?
for status in $now $grown; do
   case $status in 0 | 3) ;; *) exit 1 ;; esac
done
[ $now -eq 0 ] && [ $grown -eq 0 ] || exit 3
