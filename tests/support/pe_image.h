/*
 * Assemblies for tests, built in memory from rows, texts and signatures, without checks.
 *
 *     struct pe_image p;
 *     pe_image_init(&p);
 *     pe_image_row(&p, 0x02, "4ss222", 0x100001, "Node", "Shop", 0, 1, 1);
 *     pe_image_close(&p);
 *     use(p.out.p, p.out.n);
 *     pe_image_done(&p);
 */
#ifndef PE_IMAGE_H
#define PE_IMAGE_H

#include "support/tb.h"

struct pe_image {
    struct tb_bytes out;
    /* set before pe_image_close */
    bool pe32;        /* the optional header of 32 bits */
    bool wide;        /* indexes into heaps have four bytes; before the first row */
    bool many_fields; /* more than 65,535; before the first row */
    /* records in the debug directory, default 1: GUID of bytes 0xc0 + number, age number + 1 */
    unsigned codeviews;
    uint16_t sections; /* default 1 */
    /* the data of an entry of the debug directory for embedded symbols; n = 0: none */
    struct tb_bytes embedded;
    uint32_t extra_rows; /* added to the declared row count of each table */
    bool in_memory;      /* the tables have the name that those of a generated assembly have */
    /* the pieces */
    struct tb_bytes strings, blobs, guids, rows[64];
    uint32_t row_count[64];
    size_t metadata_off; /* of "BSJB", after pe_image_close */
};

/* Begins with a row for the module "Test.dll". */
void pe_image_init(struct pe_image *p);
/* The same, where P is empty and has been told what its tables and records are like. */
void pe_image_begin(struct pe_image *p);
/*
 * COLUMNS has a letter for each value: 2 or 4 = bytes of an unsigned number, f = the number of a
 * field, s = a text, b = a signature as hexadecimal digits, g = a GUID with all bytes equal to the
 * number.  Returns the number of the row.
 */
uint32_t pe_image_row(struct pe_image *p, unsigned table, const char *columns, ...);
void pe_image_close(struct pe_image *p);
void pe_image_done(struct pe_image *p);

#endif
