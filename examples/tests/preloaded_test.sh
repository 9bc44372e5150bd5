#!/usr/bin/env bash
# preloaded_test <build tree>: what doc/embedding.md says of gperftools: a server runs on tcmalloc, and writes profiles.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# The sanitizers replace malloc themselves.
! grep -qE 'QUINTET_SANITIZE:[A-Z]*=.' "$1/CMakeCache.txt" || skip 'the build has a sanitizer'

# The package has what can be preloaded, and what can be linked.
for library in libtcmalloc_minimal.so libtcmalloc_minimal.so.4 libprofiler.so.0 libtcmalloc.so.4; do
  [[ -e $(g++ -print-file-name="$library") ]] || skip "$library is not installed; apt-get install libgoogle-perftools-dev"
done

# serve <library> [NAME=VALUE...]: runs echo, and nothing else, with the library and these variables, and requires a reply.
serve() {
  local reply library=$1
  shift
  launcher=(env "LD_PRELOAD=$library" "$@")
  start echo
  grep -qF "/$library" "/proc/$server_pid/maps" || fail "$library is not mapped"
  reply=$(first_line "$port" 'hello\n')
  [[ $reply == hello ]] || fail "$library: the reply is '$reply'"
  kill -TERM "$server_pid"
  await_end 'PROFILE: |Starting tracking the heap|Dumping heap profile'
}

serve libtcmalloc_minimal.so.4 TCMALLOC_RELEASE_RATE=10
serve libprofiler.so.0 CPUPROFILE="$work/cpu"
[[ -s $work/cpu ]] || fail 'there is no CPU profile'
serve libtcmalloc.so.4 HEAPPROFILE="$work/heap"
[[ -s $work/heap.0001.heap ]] || fail 'there is no heap profile'

g++ -x c++ - -o "$work/linked" -Wl,--no-as-needed -ltcmalloc_minimal <<< 'int main() {}'
[[ $(ldd "$work/linked") == *tcmalloc_minimal* ]] || fail 'a program that calls nothing of tcmalloc is not linked with it'
