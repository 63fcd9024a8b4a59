/*
 * A heap snapshot as a Dart VM writes it, with every kind of data that an object can have.  It has
 * 11 objects, including the root.
 */
#ifndef DART_SAMPLE_H
#define DART_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t dart_sample[];
extern const size_t dart_sample_bytes;

#endif
