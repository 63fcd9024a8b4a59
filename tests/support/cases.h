/*
 * How many cases tests try that try many.
 */
#ifndef CASES_H
#define CASES_H

#ifdef __SANITIZE_ADDRESS__
#define ASAN 1
#elif defined __has_feature /* of clang */
#define ASAN __has_feature(address_sanitizer)
#else
#define ASAN 0
#endif

/* N random cases.  With sanitizers they take several times as long, so there
 * are fewer. */
#define CASES(n) (ASAN ? (n) / 4 : (n))

#endif
