/*
 * Names for a closed dump, as if the files of all its modules had been read.
 */
#ifndef INVENT_NAMES_H
#define INVENT_NAMES_H

#include <stdbool.h>

#include <gcdumpc/dump.h>

/* Class and label of every second static variable. */
#define INVENTED_CLASS  "Tests.\xc3\x84+\xf0\x9f\x98\x80"
#define INVENTED_LAYOUT "o 3,14\n3 _first\n0 <Second>k__BackingField"
#define INVENTED_LABEL  "Tests.\xc3\x84.\xf0\x9f\x98\x80.field"

/* Does T get an outer type?  Every third does. */
bool invent_outer(const struct gcd_type *t);
/* OUTER: name of the outer type of them all. */
void invent_names(struct gcd_dump *d, const char *outer);

#endif
