/*
 * cmocka with what it needs before it.
 */
#ifndef GCD_TESTS_CHECK_H
#define GCD_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
