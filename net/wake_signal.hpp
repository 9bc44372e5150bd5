// SPDX-License-Identifier: BSL-1.0
// wake_signal: a signal of the process that several may use: each takes what is meant for it, and passes on the rest.
#pragma once

namespace quintet {

/// [any thread] From now on `take` is called on a thread that gets the signal and has a target, which ends a system
/// call that waits. It must be async-signal-safe, and says whether the signal was meant for its target; if not, whoever
/// had the signal before gets it: the program, or another copy of this library in another shared object, whose threads
/// use the same signal. For the rest of the process's life: the object that this code is in is not unloaded any more.
/// Once for each copy of the library; whoever comes later waits for the first. Throws std::system_error where the
/// process has no thread-specific data left (PTHREAD_KEYS_MAX).
void use_wake_signal(int signal, bool (*take)(void* target) noexcept);

/// [any thread] What `take` is given on the calling thread from now on; nothing: signals here are for others. After
/// use_wake_signal. False: no memory, and nothing has changed.
bool wake_target(void* target) noexcept;

}  // namespace quintet
