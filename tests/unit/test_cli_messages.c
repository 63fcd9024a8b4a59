/* Messages about errors and dumps, and the exit status that follows. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "graph/graph_build.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "signals.h"
#include "support/check.h"
#include "term/message.h"

static void errors(void **state)
{
    (void)state;
    static const struct {
        struct gcd_error err;
        bool timed_out;
        enum cli_exit exit;
        const char *said;
    } rows[] = {
        { { .code = GCD_E_CANCELED, .off = GCD_OFF_NONE, .msg = "stopped" },
          false,
          CLI_INTERRUPTED,
          "interrupted" },
        { { .code = GCD_E_CANCELED, .off = GCD_OFF_NONE, .msg = "stopped" },
          true,
          CLI_FAILED,
          "the time is up (--timeout)" },
        { { .code = GCD_E_IO, .off = GCD_OFF_NONE, .msg = "cannot read" },
          true,
          CLI_FAILED,
          "cannot read" },
        { { .code = GCD_E_FORMAT, .off = 7, .msg = "is damaged" },
          false,
          CLI_FAILED,
          "is damaged (at byte 7)" },
        { { .code = GCD_E_FORMAT, .off = 0, .msg = "is damaged" },
          false,
          CLI_FAILED,
          "is damaged (at byte 0)" },
        { { .code = GCD_E_TRUNCATED, .off = 0, .msg = "is empty" },
          false,
          CLI_FAILED,
          "is empty; record it again" },
        { { .code = GCD_E_IO, .off = GCD_OFF_NONE, .os_errno = EMFILE, .msg = "cannot open" },
          false,
          CLI_FAILED,
          "cannot open; raise the limit of open files (ulimit -n)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        atomic_store(&cli_timed_out, rows[i].timed_out);
        cli_hold(true);
        assert_int_equal(cli_fail("x", &rows[i].err), rows[i].exit);
        assert_string_equal(cli_last_said(), rows[i].said);
    }
    atomic_store(&cli_timed_out, false);
    cli_hold(false);
}

/* Each problem alone: objects that do not fit into the graph are reported, and that does not make a
 * dump incomplete. */
static void skipped_objects(void **state)
{
    (void)state;
    static const struct {
        struct gcd_graph_notes notes;
        const char *said;
    } rows[] = {
        { { .edges_dangling = 0 }, "" },
        { { .edges_dangling = 1 }, "1 reference leads to addresses without an object" },
        { { .roots_dangling = 2 }, "2 roots hold addresses without an object" },
        { { .dependents_dropped = 3 },
          "3 dependent handles were dropped: their key or value is not an object" },
        { { .objects_dropped = 4 }, "4 objects without an address were dropped" },
        { { .objects_doubled = 1 }, "1 object has the address of another one" },
        { { .edges_dangling = 2 }, "2 references lead to addresses without an object" },
        { { .roots_dangling = 1 }, "1 root holds addresses without an object" },
        { { .dependents_dropped = 1 },
          "1 dependent handle was dropped: its key or value is not an object" },
        { { .objects_dropped = 1 }, "1 object without an address was dropped" },
    };
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        bool complete = i % 2 == 0;
        uint32_t type;
        struct gcd_build *b;
        struct cli_dump d = { .subject = "x" };
        assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .name = "A", .module_path = "" }, &type, NULL),
            GCD_OK);
        for (uint64_t k = 0; k <= rows[i / 2].notes.objects_doubled; k++)
            assert_int_equal(gcd_build_node(b, 16, type, 24, NULL), GCD_OK);
        *gcd_build_notes(b) = rows[i / 2].notes;
        gcd_build_notes(b)->objects_doubled = 0; /* they are counted */
        gcd_build_summary(b)->verdict.complete = complete;
        assert_int_equal(gcd_build_seal(b, &d.graph, NULL), GCD_OK);
        cli_hold(true);
        cli_say_verdict(&d, false);
        assert_int_equal(cli_judge(&d), complete ? CLI_DONE : CLI_INCOMPLETE);
        assert_string_equal(cli_last_said(),
                            complete ? rows[i / 2].said : "the dump is incomplete: ");
        gcd_graph_free(d.graph);
    }
    cli_hold(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(errors),
                                        cmocka_unit_test(skipped_objects) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
