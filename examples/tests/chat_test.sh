#!/usr/bin/env bash
# chat_test <build tree>: in each model, all others read a guest's lines, and a guest that does not read delays nobody.
# Each limit of a guest closes or silences a guest that exceeds it.
# shellcheck source=examples/tests/lib.sh
. "$(dirname "$0")/lib.sh"

# expect <descriptor> <line>: the next line from the descriptor must be <line>.
expect() {
  local line
  read -r -t 20 -u "$1" line || fail "$model: nothing came instead of '$2'"
  [[ $line == "$2" ]] || fail "$model: '$line' came instead of '$2'"
}

word=$(printf '%03000d' 0)
speech='' said='' farewell='stuck has gone'
for ((i = 0; i < 50; ++i)); do speech+=$word$'\n' said+="ann: $word"$'\n'; done

for model in "${models[@]}"; do
  start chat --model "$model" --lines-per-second 1000000 --burst 1000000
  exec 4<> "/dev/tcp/127.0.0.1/$port" 5<> "/dev/tcp/127.0.0.1/$port"
  expect 4 'your name?'
  expect 5 'your name?'
  printf 'ann\n' >&4
  expect 4 'welcome, there are 1 of us'
  printf 'bob\r\n' >&5
  expect 5 'welcome, there are 2 of us'
  expect 4 'bob has come'

  exec 6<> "/dev/tcp/127.0.0.1/$port"  # enters the room, and never reads
  printf 'stuck\n' >&6
  expect 4 'stuck has come'
  expect 5 'stuck has come'
  # Ann writes no faster than Bob reads, until a megabyte of output waits for the stuck guest.
  gone=''
  for ((spoken = 0; spoken < 10000 && !${#gone}; spoken += 50)); do
    printf '%s' "$speech" >&4
    heard=$(timeout 20 head -c "${#said}" <&5; echo .)  # by bytes, because bash reads lines slowly
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

  stop  # the guests are told
  expect 4 'the server is going down'
  expect 5 'the server is going down'
  exec 4<&- 5<&-
done

# ---- Limits of a guest ----------------------------------------------------------------------------------------------

model='limits'
# conversation <printf format>: prints all lines of the reply until the server closes.
conversation() { talk "$port" "$1" 20 2> /dev/null | tr '\n' '|'; }
is() { [[ $2 == "$1" ]] || fail "'$2' came instead of '$1'"; }
too_long=$(printf '%0200d' 0)

start chat --max-guests 2 --max-per-address 3 --max-line 100 --lines-per-second 1 --burst 30 --idle-timeout-s 600
is 'your name?|a name has 1 to 32 characters|a name has 1 to 32 characters|a name has 1 to 32 characters|' \
  "$(conversation '\n\n\n\nann\n')"
is 'your name?|' "$(conversation "$too_long\\n")"  # longer than --max-line
exec 4<> "/dev/tcp/127.0.0.1/$port" 5<> "/dev/tcp/127.0.0.1/$port"
expect 4 'your name?'
expect 5 'your name?'
printf 'ann\n' >&4
expect 4 'welcome, there are 1 of us'
printf 'bob\n' >&5
expect 5 'welcome, there are 2 of us'
expect 4 'bob has come'
is 'your name?|the room is full|' "$(conversation 'eve\n')"

# Of 1,000 lines at once Ann receives a burst, and the lines that the rate allows meanwhile. Bob is warned once.
for ((i = 0; i < 1000; ++i)); do printf 'line\n'; done >&5
expect 5 'too fast: nobody hears you'
printf '\e[2Jred\n\xc2\x9b2Jblue \xc2\xa9\n/quit\n' >&4  # Bob must see Ann's terminal codes as text, then her end
expect 5 'ann: ?[2Jred'
expect 5 $'ann: ?2Jblue \xc2\xa9'
expect 5 'ann has gone'
heard=$(timeout 20 cat <&4 | grep -c '^bob: line$')
((heard >= 20 && heard <= 60)) || fail "of 1000 lines at once $heard were heard"
exec 4<&-

# One address has three connections: Bob's and two more.
exec 4<> "/dev/tcp/127.0.0.1/$port" 6<> "/dev/tcp/127.0.0.1/$port"
expect 4 'your name?'
expect 6 'your name?'
is '' "$(conversation 'eve\n')"
exec 4<&- 5<&- 6<&-
warned 'a connection is refused'
stop
