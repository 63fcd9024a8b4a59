/*
 * Names in a trace, valid and invalid ones: src/recorded/README.md has the events.
 */
#ifndef TB_NAMES_H
#define TB_NAMES_H

#include "support/tb.h"

#define TB_NAMES "gcdumpc"

/* Begins a batch for a walk. */
void tb_names(struct tb *t, uint32_t gc, uint32_t walk, uint32_t modules, uint32_t types,
              uint32_t statics);
/* Its MVID is 00 01 02 ...; its path /srv/Lib.dll. */
void tb_named_module(struct tb *t, uint64_t id, const char *assembly, const char *token);
/* The payload lacks its last MISSING bytes. */
void tb_named_type(struct tb *t, uint64_t id, const char *outer, size_t missing);
void tb_named_static(struct tb *t, uint64_t address, const char *field, const char *class_name,
                     const char *label);
/* Nine VALUES: time, resident, anonymous, file, shared, swapped, GC, limit, used.  MISSING as
 * above; SIZE_MAX: with eight bytes more. */
void tb_process_memory(struct tb *t, uint32_t gc, uint32_t walk, const uint64_t *values, size_t n,
                       size_t missing);

#endif
