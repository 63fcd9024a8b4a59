#include "support/dart_sample.h"

const uint8_t dart_sample[] =
    "dartheap\x00\x04main\x64\x80\x20\x00"
    "\x06"
    "\x00\x04Root\x00\x00\x00\x00"
    "\x00\x0fRead-Only Pages\x00\x00\x00\x00"
    "\x00\x07Isolate\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00"                                                        /* an unused class id */
    "\x00\x04" "Node\x03lib\x16package:app/src/a.dart\x00\x02\x01\x00\x01" "a\x00\x01\x01\x01" "b\x00"
    "\x00\x00\x04" "core\x00\x00\x00"                                                  /* no name, only a library */
    "\x0c\x0b"
    "\x01\x00\x00\x03\x02\x03\x04"
    "\x02\x10\x00\x00"
    "\x03\x00\x08\x04main\x02\x04\x00"
    "\x05\x18\x00\x03\x05\x00\x04"
    "\x05\x18\x01\x01\x01"                                                             /* null; refers to the root, which no VM would write */
    "\x06\x08\x02\x01\x00"                                                             /* bool */
    "\x06\x08\x03\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x00"                          /* the least integer, signed */
    "\x06\x08\x04" "12345678\x00"                                                      /* double */
    "\x06\x08\x05\x80\x01\x03" "abc\x02\x08\x08"                                       /* Latin-1, cut */
    "\x06\x08\x06\x02\x02" "a\x00" "b\x00\x01\x06"                                     /* UTF-16 */
    "\x06\x08\x07\xff\xff\xff\xff\x0f\x00"                                             /* length */
    "\x01\x04\x64\x03" "ext"
    "\x00\x00\x00\x11\x22\x33\x81\x01\x00\x00\x00\x00";

const size_t dart_sample_bytes = sizeof dart_sample - 1;
