# shellcheck shell=bash
# needs: skips a test that lacks a program, and names the package of Debian and Ubuntu that has it. Sourced.

# needs <program>...: exits with 77, which ctest reports as skipped, if a program is not installed.
needs() {
  local program package
  for program; do
    command -v "$program" > /dev/null && continue
    case $program in
      redis-cli | redis-benchmark) package=redis-tools ;;
      systemd-socket-activate | systemd-analyze) package=systemd ;;
      h2load) package=nghttp2-client ;;
      ab) package=apache2-utils ;;
      *) package=$program ;;
    esac
    echo "skipped: $program is not installed; apt-get install $package"
    exit 77
  done
}
