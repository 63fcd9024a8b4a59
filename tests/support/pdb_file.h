/*
 * A portable PDB for tests, built in memory.
 *
 *     method 1    /src/Shop/Store.cs: IL 0 line 10, IL 7 line 12, hidden at IL 20, IL 30 line 11
 *     method 2    no sequence points
 *     method 3    no document of its own: Store.cs IL 0 line 100, then Orders.cs IL 5 line 300
 */
#ifndef PDB_FILE_H
#define PDB_FILE_H

#include "support/tb.h"

/* Its GUID is 0xc0 16 times, that of the first CodeView record of a pe_image. */
void pdb_file(struct tb_bytes *ret, bool wide);
/* An image with that file in it. */
void pdb_embedded(struct tb_bytes *ret);
/* What the symbols say about the methods 0 to 4 and some offsets: a line of text for each. */
struct gcd_symbols;
void pdb_text(struct gcd_symbols *s, struct tb_bytes *ret);

#endif
