/* In which method threads block for tasks, by the words of their stacks. */
#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/static_names.h>

#include "support/async_graph.h"
#include "support/pile.h"

#define CALL  BOX("Shop.Rpc+<Call>d__1")
#define CALLS 12u

static struct gcd_error err = GCD_ERROR_INIT;

/* Calls that wait for a delay, for each of which a thread blocks. */
static struct gcd_graph *calls(void)
{
    struct async_object objects[3 * CALLS + 1];
    for (uint32_t i = 0, at = 0; i < CALLS; i++, at += 3) {
        objects[at] =
            (struct async_object){ "Shop.Kept", i + 1 == CALLS ? 1 : 2, { at + 1, at + 3 } };
        objects[at + 1] = (struct async_object){ CALL, 3, { 3 * CALLS, at + 1, at + 2 } };
        objects[at + 2] = (struct async_object){ TASK "+DelayPromise", 1, { at + 1 } };
    }
    objects[3 * CALLS] = (struct async_object){ TASK "+SetOnInvokeMres", 0, { 0 } };
    return async_graph(objects, 3 * CALLS + 1, 0);
}

/* Threads whose stacks have an event that they wait for: FIRST in one method, SECOND in another. */
struct row {
    uint32_t first, second;
    const char *thread, *method, *event, *place, *said;
};

static void see(const struct row *row)
{
    char place[GCD_ASYNC_PLACE_BYTES], text[GCD_ASYNC_JAM_BYTES], labels[2][100];
    struct gcd_graph *g = calls();
    struct pile *p = pile_new();
    struct gcd_async *a;
    struct gcd_origins *o;
    struct gcd_async_jam jam;
    bool found;
    node(p, "Shop.Rpc", 24);
    (void)snprintf(labels[0], sizeof labels[0], "7 \"%s\" in %s", row->thread, row->method);
    (void)snprintf(labels[1], sizeof labels[1], "8 (shop) in Shop.Rpc.Other");
    for (uint32_t i = 0; i < row->first + row->second; i++) {
        struct gcd_root r = { .node = node(p, row->event, 40),
                              .kind = GCD_ROOT_STACK,
                              .name = i < row->first ? row->thread : "",
                              .label = labels[i >= row->first] };
        put_root(p, &r);
        put_root(p, &r); /* a word of the stack that is there twice */
    }
    struct gcd_graph *image = pile_graph(p);
    assert_int_equal(gcd_async_new(g, NULL, &a, &err), GCD_OK);
    assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
    assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
    assert_true(found);
    gcd_origins_free(o);
    assert_int_equal(gcd_origins_new(gcd_graph_summary(image), NULL, &o, &err), GCD_OK);
    struct gcd_async_jam_of of = { .graph = image, .origins = o };
    assert_int_equal(gcd_async_jam_place(a, &jam, &of, place, sizeof place, &err), GCD_OK);
    assert_string_equal(place, row->place);
    gcd_async_jam_text(a, &jam, place, text, sizeof text);
    if (strstr(text, row->said) == NULL)
        fail_msg("%s", text);
    gcd_origins_free(o);
    gcd_async_free(a);
    gcd_graph_free(image);
    gcd_graph_free(g);
}

static void where_threads_block(void **state)
{
    (void)state;
#define EVENT TASK "+SetOnInvokeMres"
#define POOL  ".NET TP Worker"
    static const struct row rows[] = {
        { 5, 2, POOL, "Shop.Rpc.Get", EVENT, "Shop.Rpc.Get",
          "Task.Delay. 5 threads of the thread pool block in Shop.Rpc.Get, in Wait or Result: "
          "await "
          "instead." },
        { 2, 5, POOL, "Shop.Rpc.Get", EVENT, "Shop.Rpc.Other",
          " 5 threads block in Shop.Rpc.Other, " },
        { 3, 0, "in and in out", "Shop.Rpc.Get", TASK "+SetOnCountdownMres", "Shop.Rpc.Get",
          " 3 threads block in Shop.Rpc.Get, in" },
        { 2, 1, "", "Shop.Program.Main", EVENT, "", " For each of them a thread blocks" },
        { 5, 0, POOL, "Shop.Rpc.Get", TASK, "", " For each of them a thread blocks" },
        { 5, 0, POOL, "System.Rpc.Get", EVENT, "", " For each of them a thread blocks" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        see(&rows[i]);
}

static void method_of_a_root(void **state)
{
    (void)state;
    static const struct {
        unsigned kind;
        const char *label, *method;
    } rows[] = {
        { GCD_ROOT_STACK, "7 (shop) in Shop.Main", "Shop.Main" },
        { GCD_ROOT_STACK, "7 \"in in out\" in Shop.Main (lambda)", "Shop.Main (lambda)" },
        { GCD_ROOT_STACK, "7 (shop)", NULL },
        { GCD_ROOT_STATIC, "7 (shop) in Shop.Main", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_root r = { .kind = rows[i].kind, .label = rows[i].label };
        const char *method = gcd_root_method(&r);
        assert_int_equal(method == NULL, rows[i].method == NULL);
        if (method != NULL)
            assert_string_equal(method, rows[i].method);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_threads_block),
        cmocka_unit_test(method_of_a_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
