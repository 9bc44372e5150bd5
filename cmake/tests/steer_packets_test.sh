#!/usr/bin/env bash
# steer_packets_test: scripts/steer-packets in trees that stand for /sys and /proc: what it prints, applies and restores.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { printf '%s\n' "$*" >&2; failed=1; }

# interface <name> <rx queues> <tx queues>: makes a card in the tree.
interface() {
  local at=$work/sys/class/net/$1 i
  mkdir -p "$at/device/msi_irqs"
  for ((i = 0; i < $2; ++i)); do
    mkdir -p "$at/queues/rx-$i"
    echo 00000000 > "$at/queues/rx-$i/rps_cpus"
    echo 0 > "$at/queues/rx-$i/rps_flow_cnt"
  done
  for ((i = 0; i < $3; ++i)); do
    mkdir -p "$at/queues/tx-$i"
    echo 00000000 > "$at/queues/tx-$i/xps_cpus"
  done
}

# interrupt <number> <name> [interface]: of an interface's device, if it has one of its own.
interrupt() {
  mkdir -p "$work/proc/irq/$1"
  echo 0-3 > "$work/proc/irq/$1/smp_affinity_list"
  printf '%4d:  0  7  0  0  PCI-MSI 5243%s-edge      %s\n' "$1" "$1" "$2" >> "$work/proc/interrupts"
  [[ ! ${3:-} ]] || touch "$work/sys/class/net/$3/device/msi_irqs/$1"
}

# machine <online CPUs>: an empty machine, with an ethtool that keeps its one value in a file.
machine() {
  rm -rf "${work:?}"/*
  mkdir -p "$work"/{run,sbin,sys/devices/system/cpu,proc/1,proc/sys/net/core} "$work"/sys/class/net/lo/queues/{rx,tx}-0
  echo "$1" > "$work/sys/devices/system/cpu/online"
  echo systemd > "$work/proc/1/comm"
  echo 0 > "$work/proc/sys/net/core/rps_sock_flow_entries"
  printf '           CPU0       CPU1       CPU2       CPU3\n' > "$work/proc/interrupts"
  interrupt 9 acpi
  echo 'Adaptive RX: on  TX: off' > "$work/coalescing"
  printf 'rx-usecs:\t8\n' >> "$work/coalescing"
  cat > "$work/sbin/ethtool" << 'END'
#!/usr/bin/env bash
work=${0%/sbin/ethtool}
[[ $1 != -c ]] || exec cat "$work/coalescing"
echo "$*" >> "$work/called"
END
  chmod +x "$work/sbin/ethtool"
}

# run <status> <argument...>: what it says is in $work/out and $work/err.
run() {
  local wanted=$1 status=0
  shift
  scripts/steer-packets --root "$work" "$@" > "$work/out" 2> "$work/err" || status=$?
  ((status == wanted)) || complain "steer-packets $*: status $status, not $wanted: $(cat "$work/err")"
}
has() { grep -qF -- "$2" "$work/$1" || complain "no '$2' in: $(cat "$work/$1")"; }
lacks() { ! grep -qF -- "$2" "$work/$1" || complain "'$2' in: $(cat "$work/$1")"; }
is() { [[ $(< "$work/$1") == "$2" ]] || complain "$1 is '$(< "$work/$1")', not '$2'"; }
contents() { (cd "$work" && find sys proc -type f | sort | xargs grep -H ''); }

# As many queues as CPUs: one of each for each CPU, and no RPS.
machine 0-3
interface eth0 4 4
for i in 0 1 2 3; do interrupt $((24 + i)) "eth0-TxRx-$i" eth0; done
interrupt 28 eth0 eth0
interrupt 29 nvme0q1
contents > "$work/before"
run 0 eth0
has out 'echo 2 > /proc/irq/26/smp_affinity_list  # now 0-3'
has out 'echo 8 > /sys/class/net/eth0/queues/tx-3/xps_cpus'
has out 'echo 0 > /sys/class/net/eth0/queues/rx-1/rps_cpus'
has out 'echo 8192 > /sys/class/net/eth0/queues/rx-1/rps_flow_cnt'
has out 'ethtool -C eth0 adaptive-rx off rx-usecs 333'
lacks out /irq/28/
lacks out /irq/29/
lacks out /irq/9/
[[ ! -s $work/err ]] || complain "warns without a reason: $(cat "$work/err")"
contents | diff - "$work/before" || complain 'a dry run changes something'
[[ ! -e $work/called && ! -e $work/run/steer-packets-eth0 ]] || complain 'a dry run changes something'

run 0 --apply eth0
has out "--restore $work/run/steer-packets-eth0"
is proc/irq/27/smp_affinity_list 3
is sys/class/net/eth0/queues/tx-1/xps_cpus 2
is proc/sys/net/core/rps_sock_flow_entries 32768
is called '-C eth0 adaptive-rx off rx-usecs 333'
run 0 --apply --cpus 2,3 --flows 0 eth0  # again: the values of the first time stay saved
is proc/irq/24/smp_affinity_list 2
is proc/irq/26/smp_affinity_list 2
run 0 --dry-run --restore "$work/run/steer-packets-eth0"
has out 'echo 0-3 > /proc/irq/24/smp_affinity_list'
is proc/irq/24/smp_affinity_list 2
run 0 --restore "$work/run/steer-packets-eth0"
contents | diff - "$work/before" || complain 'not all is restored'
has called '-C eth0 adaptive-rx on rx-usecs 8'
[[ ! -e $work/run/steer-packets-eth0 ]] || complain 'the file is kept after all was restored'

# A setting that the kernel refuses: the others are applied, and the status tells.
rm "$work/sys/class/net/eth0/queues/rx-2/rps_flow_cnt" && mkdir "$work/sys/class/net/eth0/queues/rx-2/rps_flow_cnt"
run 1 --apply --coalesce keep --save "$work/saved" eth0
has err 'rx-2/rps_flow_cnt'
is sys/class/net/eth0/queues/rx-3/rps_flow_cnt 8192

# Fewer queues than CPUs, virtio's names, a device whose parent has the interrupts, and irqbalance.
machine 0-63
interface eth1 1 2
mkdir -p "$work/sys/devices/pci/virtio1" "$work/sys/devices/pci/msi_irqs"
rm -r "$work/sys/class/net/eth1/device" && ln -s "$work/sys/devices/pci/virtio1" "$work/sys/class/net/eth1/device"
interrupt 40 virtio1-config && interrupt 41 virtio1-input.0 && interrupt 42 virtio1-output.1
touch "$work"/sys/devices/pci/msi_irqs/{40,41,42}
echo irqbalance > "$work/proc/1/comm"
rm "$work/sbin/ethtool"
run 0 eth1
has out 'echo ffffffff,ffffffff > /sys/class/net/eth1/queues/rx-0/rps_cpus'
has out 'echo aaaaaaaa,aaaaaaaa > /sys/class/net/eth1/queues/tx-1/xps_cpus'
has out 'echo 0 > /proc/irq/41/smp_affinity_list'
has out 'echo 1 > /proc/irq/42/smp_affinity_list'
lacks out /irq/40/
has err '1 receive queues for 64 CPUs: RPS'
has err 'irqbalance is running'
has err 'ethtool is not installed'
run 0 --cpus 0-3,32-35 eth1
has out 'echo f,0000000f > /sys/class/net/eth1/queues/rx-0/rps_cpus'

# A card with one interrupt, which has the interface's name.
machine 0-1
interface eth3 1 1
interrupt 60 eth3 eth3
run 0 eth3
has out 'echo 0 > /proc/irq/60/smp_affinity_list'

# More queues than CPUs, and a driver that names the device after the queue.
machine 0-1
interface eth2 4 1
for i in 0 1 2 3; do interrupt $((50 + i)) "mlx5_comp$i@pci:0000:3b:00.0" eth2; done
interrupt 54 mlx5_async0@pci:0000:3b:00.0 eth2
run 0 eth2
has out 'echo 1 > /proc/irq/53/smp_affinity_list'
lacks out /irq/54/
lacks out xps_cpus

# Refusals, each in one line.
refused() {
  local status=$1 text=$2
  shift 2
  run "$status" "$@"
  [[ $(wc -l < "$work/err") == 1 && ! -s $work/out ]] || complain "$*: not one line: $(cat "$work/out" "$work/err")"
  has err "$text"
}
refused 1 'lo has no queues of hardware' lo
refused 2 "no interface 'eth9'" eth9
refused 2 'an interface is missing'
refused 2 "one interface at a time" eth2 lo
refused 2 "'--fast' is not an option" --fast eth2
refused 2 '--cpus needs a value' eth2 --cpus
refused 2 'CPU 7 is not online' --cpus 0,7 eth2
refused 2 "it must be a list" --cpus 3-1 eth2
refused 2 '--flows' --flows many eth2
refused 2 '--coalesce' --coalesce -1 eth2
refused 2 'exclude each other' --apply --dry-run eth2
refused 2 'takes no interface' --restore "$work/out" eth2
refused 2 'cannot be read' --restore "$work/nothing"
printf '/etc/passwd x\n' > "$work/saved"
refused 2 "saved:1: is not a line" --restore "$work/saved"
printf '/sys/class/net/../../etc/queues/rx-0/x $(id)\n' > "$work/saved"
refused 2 "saved:1: is not a line" --restore "$work/saved"
run 0 --help
has out '  sudo scripts/steer-packets --restore'
exit $failed
