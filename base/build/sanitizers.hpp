// SPDX-License-Identifier: BSL-1.0
// sanitizers: the sanitizers of this build; g++ and clang announce them differently.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define QUINTET_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUINTET_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef QUINTET_ADDRESS_SANITIZER
#define QUINTET_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define QUINTET_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QUINTET_THREAD_SANITIZER 1
#endif
#endif
#ifndef QUINTET_THREAD_SANITIZER
#define QUINTET_THREAD_SANITIZER 0
#endif

namespace quintet {

inline constexpr bool address_sanitizer = QUINTET_ADDRESS_SANITIZER;
/// ThreadSanitizer takes a descriptor number for the same object in every thread.
inline constexpr bool thread_sanitizer = QUINTET_THREAD_SANITIZER;

/// Either of them: malloc is replaced, and threads cost several times as much.
inline constexpr bool sanitized = address_sanitizer || thread_sanitizer;

}  // namespace quintet
