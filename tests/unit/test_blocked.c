/* What is said of threads that wait for locks or for tasks. */
#include "support/check.h"

#include <string.h>

#include <gcdumpc/unstable/blocked.h>

#include "graph/graph_build.h"

static struct gcd_error err = GCD_ERROR_INIT;
static char text[GCD_BLOCKED_BYTES];
static uint64_t threads;

static const char *say_beside(const char *lines, bool tasks_told)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    const struct gcd_graph_options options = { .context = { .cancel = NULL } };
    assert_int_equal(gcd_build_new(&options, &b, &err), GCD_OK);
    gcd_build_summary(b)->image.blocked = lines;
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    threads = gcd_blocked_text(g, tasks_told, text, sizeof text);
    gcd_graph_free(g);
    return text;
}

static const char *say(const char *lines)
{
    return say_beside(lines, false);
}

static void nothing_is_said_of_few(void **state)
{
    (void)state;
    assert_string_equal(say(""), "");
    assert_string_equal(say("lock\t9\tShop.A\t10\t1 in Shop.B\t0\ntask\t9\tShop.A\t0\t\t0\n"), "");
    assert_string_equal(say("lock\t40\tShop.A\t10\tdamaged"), "");
    assert_string_equal(say("damaged\n"), "");
    assert_int_equal(threads, 0);
}

static void many_are_counted_by_method(void **state)
{
    (void)state;
    assert_string_equal(say("lock\t9\tShop.A\t0\t\t0\nlock\t2\tShop.B\t0\t\t0\n"),
                        "11 threads wait for locks in Shop.A.");
    assert_int_equal(threads, 11);
    assert_string_equal(
        say("lock\t10\tShop.A\tab\t7 \"x\" in Shop.C\t0\n"),
        "10 threads wait for locks in Shop.A. 10 wait for object 0xab, which thread "
        "7 \"x\" in Shop.C holds.");
    assert_string_equal(say("task\t12\tShop.A\t0\t\t0\n"),
                        "12 threads block in Wait or Result of a task in Shop.A: await there "
                        "instead.");
    assert_int_equal(threads, 12);
    assert_string_equal(say("task\t12\tSystem.Threading.Monitor.Wait\t0\t\t0\n"), "");
    assert_string_equal(
        say("finalizer\t1\tShop.A\t10\t5\t0\n"),
        "The thread of the finalizers waits for object 0x10, which thread 5 holds.");
}

static void tasks_are_told_once(void **state)
{
    (void)state;
    static const char lines[] = "lock\t11\tShop.A\t0\t\t0\ntask\t12\tShop.B\t0\t\t0\n";
    assert_string_equal(say(lines), "11 threads wait for locks in Shop.A. 12 threads block in Wait "
                                    "or Result of a task in Shop.B: await there instead.");
    assert_int_equal(threads, 23);
    assert_string_equal(say_beside(lines, true), "11 threads wait for locks in Shop.A.");
    assert_int_equal(threads, 11);
}

static void a_circle_is_a_deadlock(void **state)
{
    (void)state;
    /* the first one leads to the circle, but is not in it */
    assert_string_equal(say("lock\t1\tShop.A\t10\t1\t20\nlock\t2\tShop.A\t20\t2\t30\n"
                            "lock\t1\tShop.A\t30\t3\t20\n"),
                        "4 threads wait for locks in Shop.A. Their owners wait for each other, a "
                        "deadlock: thread 2 holds object 0x20 and waits for object 0x30, which "
                        "thread 3 holds while it waits for object 0x20. Take locks in one order "
                        "everywhere.");
    assert_string_equal(say("lock\t1\tShop.A\t10\t1\t20\nlock\t2\tShop.A\t20\t2\t0\n"), "");
}

static void the_finalizer_is_told_alone(void **state)
{
    (void)state;
    assert_string_equal(say("finalizer\t1\tShop.F\t10\t5\t0\nlock\t1\tShop.F\t10\t5\t0\n"),
                        "1 thread waits for a lock in Shop.F. The thread of the finalizers waits "
                        "for object 0x10, which thread 5 holds.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_of_few),      cmocka_unit_test(many_are_counted_by_method),
        cmocka_unit_test(tasks_are_told_once),         cmocka_unit_test(a_circle_is_a_deadlock),
        cmocka_unit_test(the_finalizer_is_told_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
