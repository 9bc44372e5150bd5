#!/usr/bin/env bash
# check_portability <compiler> <include directory>: only the listed files need headers of Linux. All others compile without.
# Headers are checked, not names: accept4() and MSG_NOSIGNAL are declared in headers that other systems have as well.
# See doc/decisions/0027-portability.md.
set -euo pipefail
compiler=$1 include=$2
# shellcheck source=cmake/tests/needs.sh
. "$(dirname "$0")/needs.sh"
"$compiler" -x c++ -fsyntax-only - <<< '#include <openssl/ssl.h>' 2> /dev/null ||
  skip 'the headers of OpenSSL are missing; apt-get install libssl-dev'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The files that need headers of Linux, and why. A file that does no more must leave the list.
needs_linux="
net/engine/epoll_engine.cpp           epoll, eventfd
net/engine/epoll_engine.hpp           epoll, eventfd
net/engine/wake_event.hpp             eventfd
net/engine/make_engine.cpp            makes the epoll engine
net/engine/shm/shm_engine.cpp             waits by an epoll engine where the inner engine cannot
net/engine/kernel_sockets_sharing.cpp a BPF program picks the loop of the receiving CPU
net/loop/allowed_cpus.hpp             CPU sets
net/loop/child_process.cpp            eventfd, pidfd
net/loop/loop_thread.cpp              unshare(), close_range()
net/loop/stop_on_signals.cpp          eventfd
net/server/resource_reserve.cpp       eventfd
net/server/thread_scheduling.cpp      sched_setattr()
net/watch/activity.cpp                registers of an interrupted thread
net/watch/pinning.cpp                 CPU sets
net/watch/shared_signal.cpp           sched_yield(), which sched.h declares beside the CPU sets
threadmodels/compute/worker_pool.cpp            CPU sets
threadmodels/config.cpp                         CPU sets
threadmodels/placement/idle_cpus.cpp            CPU sets
threadmodels/placement/placement.cpp            CPU sets
threadmodels/placement/placement_options.cpp    CPU sets
"

# A header of Linux is an error once QUINTET_WITHOUT_LINUX is defined. Until then it is the real one.
without() {
  mkdir -p "$work/without/$(dirname "$1")"
  printf '#ifdef QUINTET_WITHOUT_LINUX\n#error <%s> is a header of Linux\n#else\n#include_next <%s>\n#endif\n' "$1" "$1" \
    > "$work/without/$1"
}
all_includes() {
  grep -rhoE --include='*.[hc]pp' --exclude-dir=tests --exclude-dir=uring '^ *# *include <[^>]+>' base net threadmodels bus
}
of_linux=(liburing.h sched.h syscall.h ucontext.h)
of_linux+=(sys/{epoll,eventfd,fanotify,inotify,personality,prctl,random,sendfile,signalfd,syscall,sysinfo,timerfd}.h)
mapfile -t -O "${#of_linux[@]}" of_linux < <(all_includes | grep -oE 'linux/[^>]+' | sort -u)
for header in "${of_linux[@]}"; do without "$header"; done

# Boost and the standard library use Linux for themselves: they are included before, and by their guards not again.
all_includes | sort -u | grep -vE "<(quintet/.*|$(IFS='|'; echo "${of_linux[*]}"))>" > "$work/others.hpp"
cat > "$work/cut.hpp" << 'END'
#define QUINTET_WITHOUT_LINUX
#undef __linux__
#undef __linux
#undef __gnu_linux__
#undef linux
END
# They are compiled once, and the flags are in a file because bash exports no array.
printf '"%s"\n' -std=c++20 -DBOOST_ASIO_NO_DEPRECATED -DQUINTET_STALL_BOUND=0 -isystem "$work/without" "-I$include" \
  > "$work/flags"
"$compiler" "@$work/flags" -x c++-header "$work/others.hpp" -o "$work/others.hpp.gch"
reads() {  # reads <file> <log> <option...>
  "$compiler" "@$work/flags" -include "$work/others.hpp" -include "$work/cut.hpp" "${@:3}" -x c++ "$1" 2> "$2" > /dev/null
}
compiles() { reads "$1" "$2" -fsyntax-only -Wfatal-errors; }
is_listed() { [[ $needs_linux == *$'\n'"$1 "* ]]; }

check() {
  local file=$1 said=$work/${1//\//-}.said
  if compiles "$file" "$said"; then
    ! is_listed "$file" ||
      { echo "$file: needs no header of Linux; take it off the list of check_portability.sh" >&2; return 1; }
  else
    is_listed "$file" && grep -q 'is a header of Linux' "$said" ||
      { echo "${file#"$work/"}: does not compile without the headers of Linux" >&2; head -n 6 "$said" >&2; return 1; }
  fi
}
export -f check reads compiles is_listed
export compiler work needs_linux

# The check itself: what it must refuse and accept.
for header in sys/epoll.h linux/filter.h sched.h; do
  echo "#include <$header>" > "$work/refused.cpp"
  ! compiles "$work/refused.cpp" /dev/null || { echo "accepts a file that includes <$header>" >&2; exit 1; }
done
printf '#ifdef __linux__\n#error seen\n#endif\n#include <sys/socket.h>\n#include <thread>\n' > "$work/accepted.cpp"
compiles "$work/accepted.cpp" /dev/null || { echo 'refuses a file that includes headers of POSIX' >&2; exit 1; }

# Files that are listed are compiled alone, as are sources that ask for the system. All other headers are compiled
# together. All other sources are only preprocessed, together, which suffices to find an #error; the compiler names the file.
find base net threadmodels bus -name '*.[hc]pp' -not -path '*/tests/*' -not -path 'net/engine/uring/*' | sort |
  while IFS= read -r file; do
    if is_listed "$file" || { [[ $file == *.cpp ]] && grep -q '__linux' "$file"; }; then
      echo "$file"
    elif [[ $file == *.cpp ]]; then
      echo "#include \"$PWD/$file\"" >> "$work/sources.cpp"
    else
      echo "#include <quintet/$file>" >> "$work/headers.cpp"
    fi
  done > "$work/files"
if ! reads "$work/sources.cpp" "$work/sources.said" -E; then
  echo 'a source does not compile without the headers of Linux' >&2
  head -n 12 "$work/sources.said" >&2
  exit 1
fi
{ echo "$work/headers.cpp"; cat "$work/files"; } | xargs -P 2 -I{} bash -c 'check "$1"' _ {}
