/*
 * Where our files of object graphs hold a checksum (io/sink_sum.h): in room that other readers
 * skip. It covers every byte of the file before it.
 */
#ifndef GCD_BASE_FILE_SUMS_H
#define GCD_BASE_FILE_SUMS_H

/* .gcdump: the last two entries of the table of forward references are this and the sum.  Regions
 * end at an offset in the file, which this is not. */
#define GCDUMP_SUM_MARK UINT32_C(0xd5a1c3f7)

/*
 * .gclog, the last record before "c": a type without objects, with this name, the verdict, the
 * checksum and two counts in hexadecimal:
 *
 *     t 5c [gcdumpc complete crc32=9a2b33f1 objects=4c1 references=e2b]
 */
#define GCLOG_SUM_NAME "[gcdumpc "

/*
 * .dartheap: the reserved text of the class "Root", and at the end of the file a text of
 * DART_SUM_BYTES bytes: this, the first letter of the verdict and the sum, little-endian.
 */
#define DART_SUM_NAME  "gcdumpc"
#define DART_SUM_BYTES 12

#endif
