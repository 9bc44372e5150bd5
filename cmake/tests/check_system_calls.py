#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""check_system_calls [--list] [FOLDER]: the library looks at the result of each system call, and a test refuses it.

A test names the sites that it refuses ("net/engine/x.cpp: bind"), each as often as it occurs. Others must be in
untried_system_calls.py, with the reason. A result that is not used must be in REASONS with the reason why nobody needs
it, as often as it occurs. `--list` prints each call site, with "used" or the reason.
"""
import glob
import re
import sys

import untried_system_calls

LAYERS = 'base', 'net', 'threadmodels', 'bus'
NOT_THE_LIBRARY = '/tests/', '/testing/'
# Functions of the system that return nothing, or no error.
NO_RESULT = {'_exit', 'freeaddrinfo', 'pthread_self', 'sched_yield', 'secure_getenv', 'getpid', 'gettid', 'pthread_equal'}
# Functions of net/engine/system_call.hpp that make no call.
NO_CALL = {'system_call::' + name for name in ('as_word', 'error_of', 'is_for_now', 'to_milliseconds')}
# The tests that refuse calls, and how they name a site.
REFUSING = 'threadmodels/tests/*refused_*_test.cpp', 'threadmodels/tests/*/fault_classes.cpp'
SITE = re.compile(r'\b((?:base|net|threadmodels|bus)/[\w/]+\.[ch]pp):\s+(?://\s*)?([a-z_]\w*(?:::\w+)?)')
CALL = re.compile(r'(?<![\w>:])::([a-z_]\w*)\(|\b(io_uring_(?:submit|register|queue_init)\w*|system_call::\w+)\(')

HEAD = re.compile(r'\s*(?:else\b|case [^:]+(?<!:):(?!:)|default:|(?:if|for|while|switch)(?: constexpr)?\s*(?=\())')

CLOSED = 'closed in any case; errors are those of file systems, which these descriptors do not have'
VALID = 'fails for invalid arguments only, and these are constant'
OPTION = 'costs speed or convenience, never correctness'
OWN = 'fails for a wrong number only, and the caller owns the descriptor'
SHUT = 'fails if the peer has ended the connection already'
# How often a file ignores the result of a call, and why nobody needs it.
REASONS = {
    ('net/client/connector.cpp', 'system_call::send'): (1, 'an alert before the end: the server may have gone'),
    ('net/client/name_lookups.cpp', 'pthread_sigmask'): (2, VALID),
    ('net/client/name_lookups.cpp', 'sigfillset'): (1, VALID),
    ('net/client/name_lookups.cpp', 'sigdelset'): (1, VALID),
    ('net/engine/blocking_engine.cpp', 'pthread_kill'): (1, 'the thread exists, and the signal is not queued'),
    ('net/engine/blocking_engine.cpp', 'setsockopt'): (1, 'a time-out of a socket: needs no memory, and the value is valid'),
    ('net/engine/blocking_engine.cpp', 'pthread_sigmask'): (2, VALID),
    ('net/engine/blocking_engine.cpp', 'sigaddset'): (1, VALID),
    ('net/engine/blocking_engine.cpp', 'sigemptyset'): (1, VALID),
    ('net/engine/epoll_engine.cpp', 'epoll_ctl'): (2, 'EPOLL_CTL_DEL needs no resources'),
    ('net/engine/file_descriptor.hpp', 'close'): (1, CLOSED),
    ('net/engine/kernel_sockets.cpp', 'close'): (1, CLOSED),
    ('net/engine/kernel_sockets.cpp', 'connect'): (1, 'AF_UNSPEC resets TCP; others keep SO_LINGER and shutdown()'),
    ('net/engine/kernel_sockets.cpp', 'setsockopt'): (3, OPTION + '; SO_LINGER needs no resources'),
    ('net/engine/kernel_sockets.cpp', 'shutdown'): (2, SHUT),
    ('net/engine/kernel_sockets_sharing.cpp', 'setsockopt'): (1, OPTION),
    ('net/engine/kernel_sockets_sharing.cpp', 'shutdown'): (1, OWN),
    ('net/engine/passed_descriptors.cpp', 'close'): (3, CLOSED),
    ('net/engine/passed_descriptors.cpp', 'pthread_sigmask'): (2, VALID),
    ('net/engine/passed_descriptors.cpp', 'setsockopt'): (1, 'can_arrive() asks afterwards'),
    ('net/engine/passed_descriptors.cpp', 'shutdown'): (1, SHUT),
    ('net/engine/shm/client.cpp', 'setsockopt'): (1, 'a time-out of a socket: needs no memory, and the value is valid'),
    ('net/engine/shm/endpoint.cpp', 'send'): (1, 'fails if a wake-up waits already, or if the peer has ended'),
    ('net/engine/shm/segment.cpp', 'munmap'): (2, OWN),
    ('net/engine/shm/segment_pool.cpp', 'madvise'): (1, 'keeps the pages until the segment is closed'),
    ('base/clock.hpp', 'clock_gettime'): (1, VALID),
    ('net/engine/shm/segment_pool.cpp', 'munmap'): (2, OWN),
    ('net/engine/shm/segment_pool.cpp', 'shutdown'): (1, SHUT),
    ('net/engine/unix_path.cpp', 'unlink'): (1, 'in a destructor; the next server finds the file, and replaces it'),
    ('net/engine/uring/uring_engine_transfers.cpp', 'shutdown'): (1, SHUT),
    ('net/engine/uring/io_ring.cpp', 'io_uring_submit'): (1, 'refused requests stay queued: all_told() asks for them'),
    ('net/engine/wake_event.hpp', 'read'): (1, 'fails if the counter is 0'),
    ('net/engine/wake_event.hpp', 'write'): (1, 'fails if the counter is full, hence readable'),
    ('net/loop/child_process.cpp', 'kill'): (1, OWN),
    ('net/loop/child_process.cpp', 'posix_spawnattr_destroy'): (1, VALID),
    ('net/loop/child_process.cpp', 'posix_spawnattr_setflags'): (1, VALID),
    ('net/loop/child_process.cpp', 'posix_spawnattr_setsigdefault'): (1, VALID),
    ('net/loop/child_process.cpp', 'posix_spawnattr_setsigmask'): (1, VALID),
    ('net/loop/child_process.cpp', 'waitpid'): (1, OWN),
    ('net/loop/stop_on_signals.cpp', 'pthread_sigmask'): (2, VALID),
    ('net/loop/stop_on_signals.cpp', 'raise'): (1, VALID),
    ('net/loop/stop_on_signals.cpp', 'read'): (1, 'fails if the counter is 0'),
    ('net/loop/stop_on_signals.cpp', 'sigaction'): (2, 'of signals that the constructor has set: valid'),
    ('net/loop/stop_on_signals.cpp', 'write'): (1, 'fails if the counter is full, hence readable'),
    ('net/server/thread_scheduling.cpp', 'clock_gettime'): (1, VALID),
    ('net/watch/activity.cpp', 'backtrace'): (1, 'called for its side effect'),
    ('net/watch/pinning.cpp', 'pthread_setaffinity_np'): (1, OPTION),
    ('net/watch/shared_signal.cpp', 'dlopen'): (1, 'fails for the program itself, which is never unloaded'),
    ('net/watch/shared_signal.cpp', 'pthread_sigmask'): (3, VALID),
    ('net/watch/thread_name.hpp', 'pthread_setname_np'): (1, OPTION),
    ('threadmodels/compute/worker_pool.cpp', 'setpriority'): (1, OPTION),
    ('threadmodels/compute/wake_semaphore.hpp', 'sem_destroy'): (1, VALID),
    ('threadmodels/compute/wake_semaphore.hpp', 'sem_init'): (1, VALID),
    ('threadmodels/compute/wake_semaphore.hpp', 'sem_post'): (1, 'fails after 2^31 posts that no wait has taken'),
}


def without_comments(text):
    """The same length, with comments and the insides of texts blanked."""
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r'[^\n]', ' ', m[0]), text)


def without_condition(statement):
    """What follows if (...), for (...), while (...), else, case x:, a label."""
    while True:
        head = HEAD.match(statement)
        if not head:
            return statement.strip()
        rest = statement[head.end():]
        if rest.startswith('('):
            depth = 0
            for at, c in enumerate(rest):
                depth += (c == '(') - (c == ')')
                if depth == 0:
                    break
            else:
                return statement.strip()  # the call is inside of the condition
            rest = rest[at + 1:]
        statement = rest


def start_of_statement(code, at):
    depth = 0
    while at > 0:
        c = code[at - 1]
        depth += (c == ')') - (c == '(')
        if c in '{}':
            break
        if c == ';' and depth == 0:
            block = code[max(code.rfind('{', 0, at), code.rfind('}', 0, at)) + 1:at]
            if block.count('(') <= block.count(')'):  # else within for (a; b; c)
                break
        at -= 1
    return at


def calls(text):
    """Yields the line, the name, and whether the result is used, for each system call of a source."""
    code = without_comments(text)
    for m in CALL.finditer(code):
        name = m[1] or m[2]
        if name in NO_RESULT:
            continue
        before = without_condition(code[start_of_statement(code, m.start()):m.start()])
        yield code.count('\n', 0, m.start()) + 1, name, before not in ('', '(void)', '(void)!')


def sources(folder):
    for layer in LAYERS:
        for path in sorted(glob.glob(f'{folder}/{layer}/**/*.[ch]pp', recursive=True)):
            if not any(part in path for part in NOT_THE_LIBRARY):
                yield path[len(folder) + 1:], path


def complaints(files, reasons):
    """`files`: pairs of a path and a text."""
    ignored = {}
    for path, text in files:
        for line, name, used in calls(text):
            if not used:
                ignored.setdefault((path, name), []).append(line)
    for (path, name), lines in ignored.items():
        allowed = reasons.get((path, name), (0, ''))[0]
        for line in lines[allowed:]:
            yield (f'{path}:{line}: the result of {name}() is ignored; look at it, or add the reason to REASONS of '
                   'check_system_calls.py')
    for (path, name), (count, _) in reasons.items():
        if (found := len(ignored.get((path, name), []))) < count:
            yield f'check_system_calls.py: REASONS has {count} of {name}() in {path}, which ignores {found}'


def untried(files, tests, reasons):
    """Yields what is wrong with used sites that `tests`, texts of sources, do not name, and with `reasons` for them."""
    sites, named = {}, {}
    for path, text in files:
        for line, name, used in calls(text):
            if used and name not in NO_CALL:
                sites.setdefault((path, name), []).append(line)
    for site in (site for text in tests for site in SITE.findall(text)):
        named[site] = named.get(site, 0) + 1
    for (path, name), lines in sites.items():
        tried, excused = named.get((path, name), 0), reasons.get((path, name), (0, ''))[0]
        if len(lines) > tried + excused:
            yield (f'{path}:{lines[-1]}: no test refuses {name}() (sites: {len(lines)}, named by tests: {tried}, excused: '
                   f'{excused}); add a row to refused_starts_test or refused_calls_test, or the reason to '
                   'untried_system_calls.py')
    for path, name in sorted(set(named) - set(sites)):
        yield f'{path}: a test names a site of {name}(), which is not there'
    for (path, name), (count, _) in reasons.items():
        if len(sites.get((path, name), [])) < count:
            yield f'untried_system_calls.py: {count} of {name}() in {path}, which has {len(sites.get((path, name), []))}'


def main():
    arguments = [a for a in sys.argv[1:] if a != '--list']
    files = [(name, open(path).read()) for name, path in sources(arguments[0] if arguments else '.')]
    if '--list' in sys.argv:
        for path, text in files:
            for line, name, used in calls(text):
                print(f'{path}:{line}: {name}: ' + ('used' if used else REASONS.get((path, name), (0, 'IGNORED'))[1]))
    found = list(complaints(files, REASONS))
    folder = arguments[0] if arguments else '.'
    tests = [open(path).read() for pattern in REFUSING for path in glob.glob(f'{folder}/{pattern}')]
    found += untried(files, tests, untried_system_calls.REASONS)
    print(*found, sep='\n')
    return bool(found)


if __name__ == '__main__':
    sys.exit(main())
