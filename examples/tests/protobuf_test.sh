#!/usr/bin/env bash
# protobuf_test <build tree>: in each model, replies to hand-made Protocol Buffers, byte for byte. A malformed message is
# answered by an error and closes its connection.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"
if [[ ! -x $examples/protobuf ]]; then
  echo 'skipped: the example protobuf was not built; apt-get install libprotobuf-dev protobuf-compiler'
  exit 77
fi

hex() { od -An -v -tx1 | tr -d ' \n'; }
# frame <text>: the hexadecimal form of a Reply with id 0 and this error, after its length. For up to 125 characters.
frame() { printf '%02x1a%02x%s' $((${#1} + 2)) "${#1}" "$(printf %s "$1" | hex)"; }
# answers <hexadecimal replies> <printf format of messages>: the server closes after the last message.
answers() {
  local got
  got=$(talk "$port" "$2" 10 | hex)
  [[ $got == "$1" ]] || fail "$model: $2 is answered by '$got' and not by '$1'"
}

one='\x00\x00\x00\x00\x00\x00\xf0\x3f' two='\x00\x00\x00\x00\x00\x00\x00\x40' three='\x00\x00\x00\x00\x00\x00\x08\x40'
malformed='\x01\xff'  # a message of one byte, which promises another one
refused=$(frame 'the message is not a calculator.Request')
five=110000000000001440 unknown='operation is 9; it must be 1 to 4' unset='operation is 0; it must be 1 to 4'

for model in "${models[@]}"; do
  start protobuf --model "$model"
  # id 1: 2 + 3; id 2: 3 - 2; id 3: 3 * 2; id 300: 3 / 2
  answers "0b0801${five}0b080211000000000000f03f0b08031100000000000018400c08ac0211000000000000f83f$refused" \
    "\\x16\\x08\\x01\\x10\\x01\\x19$two\\x21$three\\x16\\x08\\x02\\x10\\x02\\x19$three\\x21$two\
\\x16\\x08\\x03\\x10\\x03\\x19$three\\x21$two\\x17\\x08\\xac\\x02\\x10\\x04\\x19$three\\x21$two$malformed"
  # 1 / 0, since an absent number is 0; an unknown operation; a message without a field; one with a field more
  answers "$(frame 'division by zero')$(frame "$unknown")$(frame "$unset")0b0801${five}$refused" \
    "\\x0b\\x10\\x04\\x19$one\\x02\\x10\\x09\\x00\\x18\\x08\\x01\\x10\\x01\\x19$two\\x21$three\\x78\\x07$malformed"
  answers "$refused" "$malformed\\x00"  # the message after the malformed one is not answered
  answers '' '\x80\x00'  # a length with a needless byte
  answers '' '\x81\x08'  # a length above the limit of 1024
  stop
done
