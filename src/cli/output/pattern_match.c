/* Follows all paths through a pattern's program at the same time. */
#include <gcdumpc/gcdumpc.h>

#include "output/pattern.h"
#include "output/pattern_program.h"

#define LOOK_EVERY 1024u /* bytes between two checks of the cancel flag */

static void clear(struct cli_places *s)
{
    s->n = 0;
}

/* False when AT is in S already. */
static bool enter(struct cli_places *s, uint32_t at)
{
    if (s->at[at] < s->n && s->order[s->at[at]] == at)
        return false;
    s->at[at] = (uint32_t)s->n;
    s->order[s->n++] = at;
    return true;
}

/* Does the assertion OP hold between the bytes BEFORE and AFTER?  -1 is an end of the text. */
static bool is_so(enum cli_op op, int before, int after)
{
    bool word_before = before >= 0 && cli_is_word((unsigned char)before),
         word_after = after >= 0 && cli_is_word((unsigned char)after);
    switch (op) {
    case OP_BEGIN:
        return before < 0;
    case OP_END:
        return after < 0;
    case OP_WORD_BEGIN:
        return !word_before && word_after;
    case OP_WORD_END:
        return word_before && !word_after;
    case OP_WORD_EDGE:
        return word_before != word_after;
    default:
        return word_before == word_after;
    }
}

/* Adds AT to S, and all places reachable from it without taking a byte.  True when one is the end
 * of the pattern. */
static bool follow(const struct cli_pattern *p, struct cli_places *s, uint32_t at, int before,
                   int after)
{
    size_t n = 0;
    if (!enter(s, at))
        return false;
    p->stack[n++] = at;
    while (n > 0) {
        at = p->stack[--n];
        const struct cli_instruction *x = &p->program[at];
        uint32_t to = (uint32_t)((int32_t)at + x->to);
        bool here = true;
        switch (x->op) {
        case OP_BYTE:
        case OP_ANY:
        case OP_SET:
            continue;
        case OP_MATCH:
            return true;
        case OP_SPLIT:
        case OP_JUMP:
            here = x->op == OP_SPLIT;
            if (enter(s, to))
                p->stack[n++] = to;
            break;
        default:
            here = is_so((enum cli_op)x->op, before, after);
        }
        if (here && enter(s, at + 1))
            p->stack[n++] = at + 1;
    }
    return false;
}

static bool takes(const struct cli_pattern *p, const struct cli_instruction *x, unsigned char byte)
{
    return x->op == OP_ANY || (x->op == OP_BYTE && x->byte == byte) ||
           (x->op == OP_SET && cli_byteset_has(&p->sets[x->set], byte));
}

/* Moves all places of NOW over BYTE into NEXT.  True when one reaches the end of the pattern. */
static bool step(const struct cli_pattern *p, const struct cli_places *now, struct cli_places *next,
                 unsigned char byte, int after)
{
    for (size_t i = 0; i < now->n; i++)
        if (takes(p, &p->program[now->order[i]], byte) &&
            follow(p, next, now->order[i] + 1, byte, after))
            return true;
    return false;
}

enum cli_match cli_pattern_match(const struct cli_pattern *p, const char *text,
                                 const gcd_cancel_flag *cancel)
{
    const unsigned char *s = (const unsigned char *)text;
    struct cli_places now = p->now, next = p->next;
    int before = -1;
    clear(&now);
    for (size_t i = 0;; i++) {
        int after = s[i] != '\0' ? s[i] : -1;
        if (i % LOOK_EVERY == 0 && atomic_load_explicit(cancel, memory_order_relaxed))
            return CLI_MATCH_CANCELED;
        if ((i == 0 || !p->from_begin) && follow(p, &now, 0, before, after))
            return CLI_MATCH;
        if (after < 0 || (p->from_begin && now.n == 0))
            return CLI_NO_MATCH;
        clear(&next);
        if (now.n > 0 && step(p, &now, &next, s[i], s[i + 1] != '\0' ? s[i + 1] : -1))
            return CLI_MATCH;
        struct cli_places swap = now;
        now = next;
        next = swap;
        before = s[i];
    }
}
