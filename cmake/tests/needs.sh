# shellcheck shell=bash
# needs: skips a test that lacks something, and names the package of Debian and Ubuntu that has it. Sourced.

# skip <reason>: ends the test with 77, which ctest reports as skipped; with 1 if something has failed before.
skip() {
  echo "skipped: $*"
  exit $((${failures:-0} > 0 ? 1 : 77))
}

# needs <program>...: skips the test if a program is not installed.
needs() {
  local program package
  for program; do
    command -v "$program" > /dev/null && continue
    case $program in
      redis-cli | redis-benchmark) package=redis-tools ;;
      systemd-socket-activate | systemd-analyze) package=systemd ;;
      psql) package=postgresql-client ;;
      h2load) package=nghttp2-client ;;
      ab) package=apache2-utils ;;
      *) package=$program ;;
    esac
    skip "$program is not installed; apt-get install $package"
  done
}

# needs_module <module>...: the same for modules of Python, of the interpreter that quintet-bench uses.
needs_module() {
  local module package python=${QUINTET_PYTHON:-/usr/bin/python3}
  for module; do
    "$python" -c "import $module" 2> /dev/null && continue
    package=python3-$module
    [ "$module" != simpy ] || package=python3-simpy3
    skip "Python has no module $module; apt-get install $package"
  done
}
