/*
 * cmocka, and the headers that it needs first.
 */
#ifndef GCD_TESTS_CHECK_H
#define GCD_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
