// SPDX-License-Identifier: BSL-1.0
// sanitized: whether a sanitizer watches, which replaces malloc and makes threads several times as dear.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QUINTET_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define QUINTET_TEST_SANITIZED 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define QUINTET_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QUINTET_TEST_TSAN 1
#endif
#endif

namespace quintet::test {

/// ThreadSanitizer takes a descriptor's number for the same thing in every thread.
#ifdef QUINTET_TEST_TSAN
inline constexpr bool watches_races = true;
#else
inline constexpr bool watches_races = false;
#endif

#ifdef QUINTET_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace quintet::test
