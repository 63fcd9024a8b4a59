/*
 * Which static fields the order of the events permits, compared with all explanations, one by one:
 * small random programs, in which some modules have no file.
 */
#include "support/check.h"

#include <string.h>

#include "base/mem.h"
#include "resolve/resolve.h"

enum { MODULES = 5, VARIABLES = 6, CHOICES = 3, CASES = 4000 };

static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

struct sample {
    struct gcd_module modules[MODULES];
    struct resolve_variable variables[VARIABLES];
    struct resolve_candidate candidates[VARIABLES * CHOICES];
    uint32_t module_count, variable_count, candidate_count;
    bool listed;
    uint32_t rank[MODULES];
};

static void add_candidate(struct sample *s, uint32_t v, uint32_t module, uint32_t token)
{
    struct resolve_variable *self = &s->variables[v];
    for (uint32_t c = self->first; c < s->candidate_count; c++)
        if (s->candidates[c].module == module && s->candidates[c].token == token)
            return;
    s->candidates[s->candidate_count++] =
        (struct resolve_candidate){ .module = module, .token = token, .variable = v };
    self->count++;
}

static bool is_read(const struct sample *s, uint32_t m)
{
    return s->modules[m].state == GCD_MODULE_READ;
}

/* The true field of each variable rises, and is its first candidate. */
static void make(struct sample *s)
{
    uint32_t module = 0, token = 1;
    memset(s, 0, sizeof *s);
    s->module_count = 2 + draw(MODULES - 1);
    s->variable_count = 1 + draw(VARIABLES);
    bool all_described = draw(2) == 0;
    for (uint32_t m = 0; m < s->module_count; m++) {
        s->modules[m].state = draw(4) != 0 ? GCD_MODULE_READ : GCD_MODULE_RECORDED;
        s->modules[m].described = all_described || draw(3) == 0;
    }
    for (uint32_t v = 0; v < s->variable_count; v++) {
        s->variables[v].first = s->candidate_count;
        for (uint32_t leaps = draw(3); leaps > 0 && module + 1 < s->module_count; leaps--) {
            module++;
            token = 0;
        }
        token += 1 + draw(2);
        if (is_read(s, module))
            add_candidate(s, v, module, token);
        for (uint32_t n = draw(CHOICES); n > 0; n--) {
            uint32_t other = draw(s->module_count);
            if (is_read(s, other))
                add_candidate(s, v, other, 1 + draw(6));
        }
    }
    s->listed = true;
    for (uint32_t m = 0; m < s->module_count; m++)
        s->listed = s->listed && (s->modules[m].described || !is_read(s, m));
}

/* The position of each module among the events, as far as it is known. */
static void find_ranks(struct sample *s)
{
    for (uint32_t m = 0; m < s->module_count; m++) {
        s->rank[m] = s->listed ? m : RESOLVE_NONE;
        for (uint32_t v = s->variable_count; !s->listed && v-- > 0;) {
            const struct resolve_variable *self = &s->variables[v];
            bool only = self->count > 0;
            for (uint32_t c = self->first; c < self->first + self->count; c++)
                only = only && s->candidates[c].module == m;
            s->rank[m] = only ? v : s->rank[m];
        }
    }
}

struct explanations {
    uint32_t longest;
    uint32_t chosen[VARIABLES];         /* candidates of the sequence at work */
    uint32_t used[VARIABLES * CHOICES]; /* by candidate: in a best one */
    uint32_t at_place[VARIABLES];       /* by place: bits of the variables there */
};

/* All rising sequences of candidates of the variables from V on, behind N chosen ones. */
static void explain(const struct sample *s, struct explanations *e, uint32_t v, uint32_t n)
{
    if (v == s->variable_count) {
        if (n > e->longest) {
            memset(e->used, 0, sizeof e->used);
            memset(e->at_place, 0, sizeof e->at_place);
            e->longest = n;
        }
        for (uint32_t i = 0; n == e->longest && i < n; i++) {
            e->used[e->chosen[i]] = 1;
            e->at_place[i] |= 1u << s->candidates[e->chosen[i]].variable;
        }
        return;
    }
    explain(s, e, v + 1, n);
    const struct resolve_variable *self = &s->variables[v];
    for (uint32_t c = self->first; c < self->first + self->count; c++) {
        const struct resolve_candidate *k = &s->candidates[c];
        const struct resolve_candidate *before = n > 0 ? &s->candidates[e->chosen[n - 1]] : NULL;
        if (s->rank[k->module] == RESOLVE_NONE)
            continue;
        if (before == NULL || s->rank[before->module] < s->rank[k->module] ||
            (s->rank[before->module] == s->rank[k->module] && before->token < k->token)) {
            e->chosen[n] = c;
            explain(s, e, v + 1, n + 1);
        }
    }
}

/* Whether V is, in all best explanations, at a place that no other variable can have. */
static bool is_certain(const struct sample *s, const struct explanations *e, uint32_t v)
{
    const struct resolve_variable *self = &s->variables[v];
    uint32_t places = 0;
    for (uint32_t c = self->first; c < self->first + self->count; c++)
        if (s->rank[s->candidates[c].module] == RESOLVE_NONE)
            return false;
    for (uint32_t i = 0; i < e->longest; i++) {
        if ((e->at_place[i] >> v & 1) != 0 && e->at_place[i] != 1u << v)
            return false;
        places += e->at_place[i] == 1u << v;
    }
    return places > 0;
}

/* Whether a module without a file fits between the certain variables around V. */
static bool is_unread_possible(const struct sample *s, const struct explanations *e, uint32_t v)
{
    uint32_t least = 0, most = UINT32_MAX;
    bool found = false;
    for (uint32_t w = 0; w < s->variable_count; w++) {
        if (w == v || !is_certain(s, e, w) || (w > v && found))
            continue;
        uint32_t low = RESOLVE_NONE, high = 0;
        for (uint32_t c = 0; c < s->candidate_count; c++)
            if (s->candidates[c].variable == w && e->used[c] != 0) {
                uint32_t rank = s->rank[s->candidates[c].module];
                low = rank < low ? rank : low;
                high = rank > high ? rank : high;
            }
        least = w < v ? low : least;
        most = w > v ? high : most;
        found = w > v;
    }
    for (uint32_t m = 0; m < s->module_count; m++) {
        bool has_place = s->listed && s->modules[m].described;
        if (!is_read(s, m) && (has_place ? m >= least && m <= most : least != most))
            return true;
    }
    return false;
}

static void check(struct sample *s)
{
    struct gcd_dump d = { .modules = s->modules };
    struct resolve r = {
        .d = &d,
        .alloc = &d.alloc,
        .module_count = s->module_count,
        .variables = s->variables,
        .variable_count = s->variable_count,
        .candidates = s->candidates,
        .candidate_count = s->candidate_count,
    };
    d.alloc = gcd_alloc_or_default(NULL);
    find_ranks(s);
    struct explanations e = { 0 };
    explain(s, &e, 0, 0);
    struct gcd_error err;
    assert_int_equal(resolve_order(&r, &err), GCD_OK);
    bool all_read = true;
    for (uint32_t m = 0; m < s->module_count; m++)
        all_read = all_read && is_read(s, m);
    for (uint32_t c = 0; c < s->candidate_count; c++) {
        bool has_rank = s->rank[s->candidates[c].module] != RESOLVE_NONE;
        assert_int_equal(s->candidates[c].gone, has_rank && e.used[c] == 0);
        bool is_first = c == s->variables[s->candidates[c].variable].first;
        if (all_read && s->listed && is_first)
            assert_false(s->candidates[c].gone); /* it is the true one */
    }
    for (uint32_t v = 0; v < s->variable_count; v++) {
        bool open = !is_certain(s, &e, v) || is_unread_possible(s, &e, v);
        assert_int_equal(s->variables[v].open, open);
    }
}

static void test_all_explanations_of_small_programs(void **state)
{
    (void)state;
    uint32_t open = 0, all = 0, gone = 0;
    for (uint32_t i = 0; i < CASES; i++) {
        struct sample s;
        random_state = i;
        make(&s);
        check(&s);
        all += s.variable_count;
        for (uint32_t v = 0; v < s.variable_count; v++)
            open += s.variables[v].open;
        for (uint32_t c = 0; c < s.candidate_count; c++)
            gone += s.candidates[c].gone;
    }
    assert_in_range(open, all / 4, all - all / 4); /* both occur often */
    assert_in_range(gone, all / 20, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_explanations_of_small_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
