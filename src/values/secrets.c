/*
 * Texts that nobody may see by accident.  Each row is tested in tests/unit/test_values.c, and the
 * guide lists them (tools/doc/values.md).
 */
#include "values/values.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* WORD in lower case at P[N]? */
static bool begins_with(const char *p, size_t n, const char *word)
{
    size_t i = 0;
    while (i < n && word[i] != '\0' && lower(p[i]) == word[i])
        i++;
    return word[i] == '\0';
}

/* How many characters of CLASS begin P[N]?  CLASS: 'b' base64 and its form for addresses, 'h' host
 * names, 'm' the part of a mailbox before the @. */
static size_t span_of(const char *p, size_t n, char class)
{
    size_t i = 0;
    for (; i < n; i++) {
        char c = p[i];
        bool is = is_letter(c) || is_digit(c) || c == '-' || c == '_' ||
                  (class == 'b' && (c == '+' || c == '/' || c == '=')) ||
                  (class != 'b' && c == '.') || (class == 'm' && (c == '+' || c == '%'));
        if (!is)
            break;
    }
    return i;
}

static bool has_mailbox(const char *p, size_t n)
{
    for (size_t i = 1; i + 3 < n; i++) {
        if (p[i] != '@' || span_of(p + i - 1, 1, 'm') == 0)
            continue;
        size_t host = span_of(p + i + 1, n - i - 1, 'h');
        for (size_t k = i + 2; k + 1 < i + 1 + host; k++)
            if (p[k] == '.' && is_letter(p[k + 1]))
                return true;
    }
    return false;
}

/* "Password=…", also with blanks around the sign, as in "User Id = a; Password = b". */
static bool has_assignment(const char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length < n; i++) {
        size_t k = i + length;
        if (!begins_with(p + i, n - i, word))
            continue;
        while (k < n && (p[k] == ' ' || p[k] == '"' || p[k] == '\''))
            k++;
        if (k < n && (p[k] == '=' || p[k] == ':'))
            return true;
    }
    return false;
}

/* "scheme://user:password@host" */
static bool has_login(const char *p, size_t n)
{
    for (size_t i = 0; i + 3 < n; i++) {
        if (memcmp(p + i, "://", 3) != 0)
            continue;
        bool colon = false;
        for (size_t k = i + 3; k < n && p[k] != '/' && p[k] != ' '; k++) {
            if (p[k] == '@' && colon)
                return true;
            colon = colon || p[k] == ':';
        }
    }
    return false;
}

/* WORD, and at least 16 characters of base64 behind it, anywhere. */
static bool has_prefixed(const char *p, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length < n; i++)
        if (begins_with(p + i, n - i, word) && (i == 0 || span_of(p + i - 1, 1, 'b') == 0) &&
            span_of(p + i + length, n - i - length, 'b') >= 16)
            return true;
    return false;
}

/* A word of at least 32 characters with letters of both cases and digits, or at least 32 digits of
 * base 16 without the form of a GUID. */
static bool is_random_word(const char *p, size_t n)
{
    bool small = false, large = false, digit = false, hex = true;
    if (n < 32 || span_of(p, n, 'b') < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        digit = digit || is_digit(p[i]);
        small = small || (is_letter(p[i]) && lower(p[i]) == p[i]);
        large = large || (is_letter(p[i]) && lower(p[i]) != p[i]);
        hex = hex && (is_digit(p[i]) || (lower(p[i]) >= 'a' && lower(p[i]) <= 'f'));
    }
    return digit && ((small && large) || (hex && (small || large)));
}

static bool is_private_key(const char *p, size_t n, const char *word)
{
    (void)word;
    return begins_with(p, n, "-----begin ");
}

static bool is_login(const char *p, size_t n, const char *word)
{
    (void)word;
    return has_login(p, n);
}

static bool is_mailbox(const char *p, size_t n, const char *word)
{
    (void)word;
    return has_mailbox(p, n);
}

static bool is_random(const char *p, size_t n, const char *word)
{
    (void)word;
    return is_random_word(p, n);
}

static const struct form {
    bool (*fits)(const char *p, size_t n, const char *word);
    const char *word; /* in lower case */
    const char *name;
} forms[] = {
    { is_private_key, "", "private key" },
    { has_assignment, "password", "connection string" },
    { has_assignment, "pwd", "connection string" },
    { has_assignment, "accountkey", "connection string" },
    { has_assignment, "sharedaccesskey", "connection string" },
    { has_assignment, "sharedaccesssignature", "connection string" },
    { is_login, "", "connection string" },
    { has_assignment, "secret", "token" },
    { has_assignment, "client_secret", "token" },
    { has_assignment, "api_key", "token" },
    { has_assignment, "apikey", "token" },
    { has_assignment, "access_token", "token" },
    { has_assignment, "refresh_token", "token" },
    { has_prefixed, "bearer ", "token" },
    { has_prefixed, "basic ", "token" },
    { has_prefixed, "eyj", "token" },  /* JSON in base64: a JWT */
    { has_prefixed, "ghp_", "token" }, /* GitHub, GitLab, Slack, AWS, Stripe, Google */
    { has_prefixed, "github_pat_", "token" },
    { has_prefixed, "glpat-", "token" },
    { has_prefixed, "xoxb-", "token" },
    { has_prefixed, "xoxp-", "token" },
    { has_prefixed, "akia", "token" },
    { has_prefixed, "sk_live_", "token" },
    { has_prefixed, "aiza", "token" },
    { is_random, "", "token" },
    { is_mailbox, "", "e-mail address" },
};

const char *gcd_secret_name(const char *utf8, size_t n)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].fits(utf8, n, forms[i].word))
            return forms[i].name;
    return NULL;
}
