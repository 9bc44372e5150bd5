#!/bin/bash
# SPDX-License-Identifier: BSL-1.0
# asking_test.sh BUILD: a reply of the workload `ask` goes on where the last one has ended, also within a piece.
# shellcheck source=benchmarks/tests/lib.sh
. "$(dirname "$0")/lib.sh"
needs python3

"$bench" serve --model single_reactor --workload ask --pieces 60..60 --port 0 > "$work/out" 2> "$work/err" &
server=$!
await '^listening' "$work/out" $server || fail "no server: $(cat "$work/err")"
port=$(sed -nE 's/^listening.*://p' "$work/out")

cat > "$work/ask.py" <<'END'
import socket
import struct
import sys


def ask(*parts):
    with socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=20) as server:
        for part in parts:
            server.sendall(struct.pack('>II', 0xfffffffe, part) + bytes(56))
        with server.makefile('rb') as replies:
            return replies.read(sum(parts))


whole = ask(600)
for parts in (100,) * 6, (1, 59, 61, 479), (600 - 7, 7):
    if ask(*parts) != whole:
        sys.exit(f'the replies {parts} differ from one reply of as many bytes')
END
python3 "$work/ask.py" "$port" || fail "wrong replies"
[ $failures -eq 0 ] && echo 'replies go on where the last one has ended'
exit $((failures > 0))
