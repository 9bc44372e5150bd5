#!/usr/bin/env bash
# chat_test <build tree>: in each model, what one says all others read; a reader that is stuck harms nobody.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# expect <descriptor> <line>: the next line that comes from there.
expect() {
  local line
  read -r -t 20 -u "$1" line || fail "$model: nothing came instead of '$2'"
  [[ $line == "$2" ]] || fail "$model: '$line' came instead of '$2'"
}

word=$(printf '%03000d' 0)
speech='' said='' farewell='stuck has gone'
for ((i = 0; i < 50; ++i)); do speech+=$word$'\n' said+="ann: $word"$'\n'; done

for model in "${models[@]}"; do
  start chat --model "$model"
  exec 4<> "/dev/tcp/127.0.0.1/$port" 5<> "/dev/tcp/127.0.0.1/$port"
  expect 4 'your name?'
  expect 5 'your name?'
  printf 'ann\n' >&4
  expect 4 'welcome, there are 1 of us'
  printf 'bob\r\n' >&5
  expect 5 'welcome, there are 2 of us'
  expect 4 'bob has come'

  exec 6<> "/dev/tcp/127.0.0.1/$port"  # enters, and never reads
  printf 'stuck\n' >&6
  expect 4 'stuck has come'
  expect 5 'stuck has come'
  # Ann speaks no faster than Bob reads, until the stuck one has a megabyte waiting.
  gone=''
  for ((spoken = 0; spoken < 10000 && !${#gone}; spoken += 50)); do
    printf '%s' "$speech" >&4
    heard=$(timeout 20 head -c "${#said}" <&5; echo .)  # by the bytes: reading lines is slow in bash
    if [[ $heard == *'stuck has gone'* ]]; then
      gone=yes
      heard=${heard%.}$(timeout 20 head -c $((${#farewell} + 1)) <&5; echo .)
      heard=${heard/$farewell$'\n'/}
    fi
    [[ $heard == "$said." ]] || fail "$model: bob heard something else"
  done
  [[ $gone ]] || fail "$model: the stuck reader is still there"
  expect 4 'stuck has gone'
  exec 6<&-

  stop  # with a goodbye
  expect 4 'the server is going down'
  expect 5 'the server is going down'
  exec 4<&- 5<&-
done
