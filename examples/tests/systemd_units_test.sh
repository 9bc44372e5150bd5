#!/usr/bin/env bash
# systemd_units_test <build tree>: systemd accepts the units of examples/systemd, and kv their command.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs systemd-analyze

units=$(cd "$(dirname "$0")/../systemd" && pwd)
for unit in quintet-kv.socket quintet-kv.service; do
  sed "s,/usr/local/bin/kv,$(realpath "$examples/kv")," "$units/$unit" > "$work/$unit"
done
out=$(systemd-analyze verify "$work/quintet-kv.socket" "$work/quintet-kv.service" 2>&1) || fail "systemd-analyze: $out"
! grep -F quintet-kv <<< "$out" || fail 'systemd-analyze has a remark'

command=$(sed -n 's,^ExecStart=[^ ]*,,p' "$units/quintet-kv.service")
# shellcheck disable=SC2086  # words of a command line
start kv ${command//\/var\/log\/quintet-kv/$work}
stop
[[ -s $work/kv.log ]] || fail 'kv does not write its log'
