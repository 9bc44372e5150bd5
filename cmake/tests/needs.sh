# shellcheck shell=bash
# needs: how a test says which program it lacks, and which package of Debian and Ubuntu has it. Sourced.

# needs <program>...: ends with 77, which ctest takes for skipped, where one of them is not installed.
needs() {
  local program package
  for program; do
    command -v "$program" > /dev/null && continue
    case $program in
      redis-cli | redis-benchmark) package=redis-tools ;;
      systemd-socket-activate) package=systemd ;;
      *) package=$program ;;
    esac
    echo "skipped: $program is not installed; apt-get install $package"
    exit 77
  done
}
