/* What a dump keeps of a type besides its name: gcd_type.events. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limit_name.h"
#include "base/mem.h"
#include "base/text.h"
#include "metadata/meta_impl.h"

#define LAMBDA_METHOD_MAX 512u /* a longer name is not noted */
#define LIMIT_TEXT_BYTES  128u /* nor a longer limit */
#define LIMITS_MAX        64u  /* constants of a class that are looked at */

bool gcd_metadata_notes_code(struct gcd_metadata *m)
{
    const char *assembly = gcd_metadata_identity(m)->assembly_name;
    return !gcd_text_begins(assembly, "System.") && !gcd_text_begins(assembly, "Microsoft.");
}

static gcd_status append(struct gcd_noted *to, const char *text, struct gcd_error *err)
{
    size_t n = strlen(text);
    if (!gcd_vec_reserve(to->alloc, &to->text, &to->room, to->n + n + 1, 1, SIZE_MAX))
        return gcd_fail_nomem(err, "completing names");
    memcpy(to->text + to->n, text, n + 1);
    to->n += n;
    return GCD_OK;
}

/* The method of a class of lambdas, in place of events, which it has none of. */
static gcd_status note_lambdas(struct gcd_metadata *m, uint32_t token, struct gcd_noted *to,
                               struct gcd_error *err)
{
    char text[LAMBDA_METHOD_MAX];
    const char *method;
    GCD_TRY(gcd_metadata_lambda_method(m, token, &method, err));
    int n = snprintf(text, sizeof text, "%s <>;", method);
    return method[0] != '\0' && strpbrk(method, " ;") == NULL && n > 0 && (size_t)n < sizeof text
               ? append(to, text, err)
               : GCD_OK;
}

/* Constants that may limit how many objects there are: "MaxItems #4000;". */
static gcd_status note_limits(struct gcd_metadata *m, uint32_t token, struct gcd_noted *to,
                              struct gcd_error *err)
{
    struct gcd_literal l = { .token = 0 };
    char text[LIMIT_TEXT_BYTES];
    gcd_status st;
    for (unsigned i = 0; i < LIMITS_MAX; i++) {
        if ((st = gcd_metadata_next_literal(m, token, &l, err)) != GCD_OK)
            return st == GCD_END ? GCD_OK : st;
        int n = snprintf(text, sizeof text, "%s #%" PRIu64 ";", l.name, l.value);
        if (l.value >= GCD_LEAST_LIMIT && l.value <= INT64_MAX && gcd_may_be_limit(l.name) &&
            strpbrk(l.name, " ;?") == NULL && n > 0 && (size_t)n < sizeof text)
            GCD_TRY(append(to, text, err));
    }
    return GCD_OK;
}

gcd_status gcd_metadata_note(struct gcd_metadata *m, struct gcd_metadata *code, uint32_t token,
                             struct gcd_noted *to, struct gcd_error *err)
{
    const char *text = "";
    to->n = 0;
    GCD_TRY(append(to, "", err));
    GCD_TRY(note_lambdas(m, token, to, err));
    if (to->n > 0)
        return GCD_OK;
    /* the equality, the methods that become delegates, the limits, then the events */
    if (gcd_metadata_notes_code(m)) {
        GCD_TRY(gcd_metadata_equality(m, token, &text, err));
        GCD_TRY(append(to, text, err));
    }
    if (code != NULL && gcd_metadata_notes_code(m)) {
        struct gcd_error own = GCD_ERROR_INIT;
        gcd_status st = gcd_metadata_delegates(code, token, &text, &own);
        GCD_TRY(gcd_only_fatal(st, &own, err));
        GCD_TRY(st == GCD_OK ? append(to, text, err) : GCD_OK);
    }
    if (gcd_metadata_notes_code(m))
        GCD_TRY(note_limits(m, token, to, err));
    GCD_TRY(gcd_metadata_events(m, token, &text, err));
    return append(to, text, err);
}

void gcd_noted_done(struct gcd_noted *n)
{
    gcd_mem_free(n->alloc, n->text, n->room);
}
