#include "write/write.h"

#include <string.h>

static const struct gcd_format *const formats[] = { &gcd_w_gclog };

const struct gcd_format *gcd_format_at(size_t i)
{
    return i < sizeof formats / sizeof *formats ? formats[i] : NULL;
}

const struct gcd_format *gcd_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

const struct gcd_format *gcd_format_by_path(const char *path)
{
    size_t n = strlen(path);
    if (n >= 3 && strcmp(path + n - 3, ".gz") == 0)
        n -= 3;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t k = strlen(formats[i]->suffix);
        if (n >= k && memcmp(path + n - k, formats[i]->suffix, k) == 0)
            return formats[i];
    }
    return NULL;
}

const char *gcd_format_name(const struct gcd_format *f)
{
    return f->name;
}

const char *gcd_format_suffix(const struct gcd_format *f)
{
    return f->suffix;
}

const char *gcd_format_about(const struct gcd_format *f)
{
    return f->about;
}

bool gcd_format_is_text(const struct gcd_format *f)
{
    return f->text;
}

gcd_status gcd_write(const struct gcd_format *f, struct gcd_dump *d, struct gcd_sink *s, const struct gcd_write_options *options,
                     struct gcd_write_notes *ret_notes, struct gcd_error *err)
{
    static const struct gcd_write_options defaults;
    struct gcd_write_notes notes = { .objects = 0 };
    gcd_status st = f->write(d, s, options != NULL ? options : &defaults, &notes, err);
    if (ret_notes != NULL)
        *ret_notes = notes;
    return st;
}
