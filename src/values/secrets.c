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

static bool is_wordy(char c)
{
    return is_letter(c) || is_digit(c);
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
        if (begins_with(p + i, n - i, word) && (i == 0 || !is_wordy(p[i - 1])) &&
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

/* "-----BEGIN " anywhere: a key may be a line of a file, or a value in JSON. */
static bool has_private_key(const char *p, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (begins_with(p + i, n - i, word))
            return true;
    return false;
}

/* A key of AWS: WORD in capital letters, then 16 capital letters and digits, anywhere. */
static bool has_aws_key(const char *p, size_t n, const char *word)
{
    enum { LENGTH = 20 };
    for (size_t i = 0; i + LENGTH <= n; i++) {
        size_t k = 0;
        while (k < LENGTH && is_wordy(p[i + k]) && (is_digit(p[i + k]) || p[i + k] <= 'Z'))
            k++;
        if (k == LENGTH && begins_with(p + i, n - i, word) && (i == 0 || !is_wordy(p[i - 1])) &&
            (i + LENGTH == n || !is_wordy(p[i + LENGTH])))
            return true;
    }
    return false;
}

/* Numbers of cards begin with LOW to HIGH, of as many digits as these have. */
static const struct {
    uint16_t low, high;
    uint8_t least, most; /* digits */
} card_numbers[] = {
    { 4, 4, 16, 19 },       { 51, 55, 16, 16 },   { 2221, 2720, 16, 16 }, { 34, 34, 15, 15 },
    { 37, 37, 15, 15 },     { 300, 305, 14, 14 }, { 36, 36, 14, 14 },     { 38, 39, 14, 14 },
    { 6011, 6011, 16, 16 }, { 644, 659, 16, 16 }, { 62, 62, 16, 19 },     { 3528, 3589, 16, 16 },
    { 50, 50, 16, 19 },     { 56, 58, 16, 19 },
};

static bool begins_as_card(const uint8_t *digits, size_t n)
{
    for (size_t i = 0; i < sizeof card_numbers / sizeof *card_numbers; i++) {
        unsigned begin = digits[0], ten = 10;
        for (size_t k = 1; ten <= card_numbers[i].low; k++, ten *= 10)
            begin = begin * 10 + digits[k];
        if (begin >= card_numbers[i].low && begin <= card_numbers[i].high &&
            n >= card_numbers[i].least && n <= card_numbers[i].most)
            return true;
    }
    return false;
}

/* How many characters of P[N] are one number: digits, in groups with one blank or sign between
 * them?  *RET_CARD: it may be that of a card, by its beginning, its length and its sum (Luhn). */
static size_t number_at(const char *p, size_t n, bool *ret_card)
{
    uint8_t digits[20];
    size_t i = 0, count = 0;
    unsigned sum = 0;
    for (; i < n; i++) {
        bool between = (p[i] == ' ' || p[i] == '-') && i + 1 < n && is_digit(p[i + 1]);
        if (!is_digit(p[i]) && !between)
            break;
        if (!between && count < sizeof digits)
            digits[count++] = (uint8_t)(p[i] - '0');
    }
    for (size_t k = 0; k < count; k++) {
        unsigned d = digits[count - 1 - k];
        sum += k % 2 == 0 ? d : d * 2 / 10 + d * 2 % 10;
    }
    *ret_card = count >= 14 && sum % 10 == 0 && begins_as_card(digits, count);
    return i;
}

static bool has_card(const char *p, size_t n, const char *word)
{
    (void)word;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(p[i]))
            continue;
        bool card;
        size_t length = number_at(p + i, n - i, &card);
        if (card && (i == 0 || !is_letter(p[i - 1])) &&
            (i + length == n || !is_letter(p[i + length])))
            return true;
        i += length - 1;
    }
    return false;
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
    { has_private_key, "-----begin ", "private key" },
    { has_assignment, "password", "connection string" },
    { has_assignment, "passwd", "connection string" },
    { has_assignment, "passphrase", "connection string" },
    { has_assignment, "pwd", "connection string" },
    { has_assignment, "accountkey", "connection string" },
    { has_assignment, "sharedaccesskey", "connection string" },
    { has_assignment, "sharedaccesssignature", "connection string" },
    { is_login, "", "connection string" },
    { has_assignment, "secret", "token" },
    { has_assignment, "secret_access_key", "token" },
    { has_assignment, "secretkey", "token" },
    { has_assignment, "api_key", "token" },
    { has_assignment, "api-key", "token" },
    { has_assignment, "apikey", "token" },
    { has_assignment, "access_token", "token" },
    { has_assignment, "accesstoken", "token" },
    { has_assignment, "refresh_token", "token" },
    { has_assignment, "refreshtoken", "token" },
    { has_assignment, "id_token", "token" },
    { has_assignment, "authorization", "token" },
    { has_assignment, "?sig", "token" }, /* of a shared access signature, in an address */
    { has_assignment, "&sig", "token" },
    { has_prefixed, "bearer ", "token" },
    { has_prefixed, "basic ", "token" },
    { has_prefixed, "eyj", "token" },   /* JSON in base64: a JWT */
    { has_prefixed, "cfdj8", "token" }, /* what ASP.NET Core has protected: cookies */
    { has_prefixed, "ghp_", "token" },  /* GitHub, GitLab, Slack, Stripe, Google, npm, ... */
    { has_prefixed, "gho_", "token" },
    { has_prefixed, "ghu_", "token" },
    { has_prefixed, "ghs_", "token" },
    { has_prefixed, "ghr_", "token" },
    { has_prefixed, "github_pat_", "token" },
    { has_prefixed, "glpat-", "token" },
    { has_prefixed, "xoxa-", "token" },
    { has_prefixed, "xoxb-", "token" },
    { has_prefixed, "xoxp-", "token" },
    { has_prefixed, "xoxs-", "token" },
    { has_prefixed, "xapp-", "token" },
    { has_prefixed, "hooks.slack.com/services/", "token" },
    { has_prefixed, "sk_live_", "token" },
    { has_prefixed, "sk_test_", "token" },
    { has_prefixed, "rk_live_", "token" },
    { has_prefixed, "whsec_", "token" },
    { has_prefixed, "aiza", "token" },
    { has_prefixed, "ya29.", "token" },
    { has_prefixed, "gocspx-", "token" },
    { has_prefixed, "npm_", "token" },
    { has_prefixed, "sg.", "token" },
    { has_prefixed, "hvs.", "token" },
    { has_prefixed, "dop_v1_", "token" },
    { has_prefixed, "shpat_", "token" },
    { has_prefixed, "sk-ant-", "token" },
    { has_prefixed, "sk-proj-", "token" },
    { has_aws_key, "akia", "token" },
    { has_aws_key, "asia", "token" },
    { is_random, "", "token" },
    { has_card, "", "card number" },
    { is_mailbox, "", "e-mail address" },
};

const char *gcd_secret_name(const char *utf8, size_t n)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].fits(utf8, n, forms[i].word))
            return forms[i].name;
    return NULL;
}
