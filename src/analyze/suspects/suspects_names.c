/*
 * Names in sentences: without namespaces, if the short name is unambiguous in the sentence and its
 * advice.
 *
 *     System.Collections.Generic.List<Shop.Cart.Item>         List<Cart.Item>, Item being nested in
 *         Cart
 *     Shop.Cart.<Pay>d__2 [Shop.dll]                          Cart.<Pay>d__2 [Shop.dll]
 *
 * A name is a sequence of words, which are identifiers with dots between them.  Each word is
 * shortened separately.  Texts are written twice: the first round collects the words, the second
 * one knows which short ones are ambiguous.
 */
#include "analyze/suspects/suspects_words.h"

#include <string.h>
#include <strings.h>

#include "base/short_name.h"
#include "base/text.h"

struct word {
    const char *p;
    size_t n;
};

/* Does the short WORD also mean something other than FULL?  Remembers its meaning. */
static bool is_ambiguous(struct suspect_names *names, struct word full, struct word word)
{
    struct suspect_name it = { gcd_text_hash(full.p, full.n, GCD_TEXT_HASH),
                               gcd_text_hash(word.p, word.n, GCD_TEXT_HASH) };
    bool known = false, other = false;
    for (size_t i = 0; i < names->count; i++) {
        known = known || (names->items[i].word == it.word && names->items[i].full == it.full);
        other = other || (names->items[i].word == it.word && names->items[i].full != it.full);
    }
    if (!known && names->count < SUSPECT_NAMES_MAX)
        names->items[names->count++] = it;
    return other || (!known && names->count == SUSPECT_NAMES_MAX);
}

/* FULL without namespaces; the first SEGMENTS - 1 outer types stay in any case. */
static struct word shortened(struct word full, const char *raw, unsigned segments)
{
    size_t at = gcd_short_begin(full.p, full.n, segments + gcd_short_outer(raw, full.p, full.n));
    return (struct word){ full.p + at, full.n - at };
}

/* The length of " [Shop.dll]", the module of a type whose name is not unique, or 0. */
static size_t module_at(const char *p)
{
    const char *end = p[0] == ' ' && p[1] == '[' ? strchr(p, ']') : NULL;
    return end != NULL ? (size_t)(end - p) + 1 : 0;
}

void suspects_put_short(struct suspect_words *s, const char *name, size_t n, unsigned segments,
                        const char *raw)
{
    char text[SUSPECT_NAME_BYTES + 8];
    size_t used = 0, copied;
    for (const char *p = name; p < name + n && used < SUSPECT_NAME_BYTES;) {
        struct word full = { p, 0 };
        while (p + full.n < name + n && gcd_short_is_part(p[full.n]))
            full.n++;
        struct word word =
            full.n > 0 && *p != '.' ? shortened(full, raw, p == name ? segments : 1) : full;
        if (full.n > 0 && s->names != NULL && is_ambiguous(s->names, full, word))
            word = full;
        if (full.n == 0)
            word = full = (struct word){
                p, (copied = module_at(p)) > 0 && copied <= (size_t)(name + n - p) ? copied : 1
            };
        copied = word.n < SUSPECT_NAME_BYTES + 1 - used ? word.n : SUSPECT_NAME_BYTES + 1 - used;
        memcpy(text + used, word.p, copied);
        used += copied;
        p += full.n;
    }
    text[used] = '\0';
    suspects_put_name(s, text);
}

bool suspects_is_an(const char *name)
{
    /* The first match wins, case is ignored: an UnboundedChannel, but a UniqueKey; an HttpClient,
     * because people spell it out, but a HashSet. */
    static const struct {
        const char *begins;
        bool an;
    } sounds[] = {
        { "Eu", false },  { "Once", false }, { "One", false }, { "Unin", true }, { "Uni", false },
        { "Un", true },   { "Ul", true },    { "Um", true },   { "Up", true },   { "Ftp", true },
        { "Hmac", true }, { "Html", true },  { "Http", true }, { "Lru", true },  { "Mqtt", true },
        { "Mvc", true },  { "Npg", true },   { "Rpc", true },  { "Rsa", true },  { "Rss", true },
        { "Sdk", true },  { "Smtp", true },  { "Ssh", true },  { "Ssl", true },  { "Svg", true },
        { "Xa", false },  { "X", true },     { "A", true },    { "E", true },    { "I", true },
        { "O", true },
    };
    for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++)
        if (strncasecmp(name, sounds[i].begins, strlen(sounds[i].begins)) == 0)
            return sounds[i].an;
    return false;
}
