#include "output/old_keys.h"

#include <string.h>

#include <jansson.h>

#include "output/json_out.h"

static const struct renamed {
    const char *command; /* NULL = all */
    const char *key, *old;
    bool in_rows; /* not at the top of the document */
} renamed[] = {
    { NULL, "guessed_roots", "stand_ins", false },
    { "report", "type", "name", true },
    { "leaks", "holds", "held", true },
    { "leaks", "own_types", "own", true },
    { "diff", "type", "name", true },
    { "trend", "type", "name", true },
    { "retained", "retained_bytes", "retained", true },
    { "diff", "retained_bytes", "retained", true },
    { "trend", "retained_bytes", "retained", true },
};

static const char *command;

static const char *old_key(const char *key, bool in_rows)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        const struct renamed *r = &renamed[i];
        if (strcmp(r->key, key) == 0 && (in_rows || !r->in_rows) &&
            (r->command == NULL || strcmp(r->command, command) == 0))
            return r->old;
    }
    return key;
}

/* J with the old keys; J is released.  Our documents are a few levels deep. */
static json_t *with_old_keys(json_t *j, bool in_rows)
{
    const char *key;
    json_t *value, *o = NULL;
    if (json_is_array(j)) {
        for (size_t i = 0; i < json_array_size(j); i++)
            json_array_set_new(j, i, with_old_keys(json_incref(json_array_get(j, i)), true));
        return j;
    }
    if (!json_is_object(j))
        return j;
    o = json_object();
    for (void *it = json_object_iter(j); it != NULL; it = json_object_iter_next(j, it)) {
        key = json_object_iter_key(it);
        value = json_object_iter_value(it);
        json_object_set_new(o, old_key(key, in_rows), with_old_keys(json_incref(value), true));
    }
    if (!in_rows)
        json_object_set_new(o, "schema", json_integer(1));
    json_decref(j);
    return o;
}

static json_t *convert(json_t *document)
{
    return with_old_keys(document, false);
}

void cli_json_use_old_keys(const char *name)
{
    command = name;
    cli_json_convert(convert, 1);
}
