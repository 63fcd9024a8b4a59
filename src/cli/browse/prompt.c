/* The input line at the bottom. */
#include <stdio.h>
#include <string.h>

#include "browse/ui.h"

struct line {
    char *text; /* [UI_TYPED_BYTES] */
    size_t at;  /* cursor position */
};

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The start of the character before the cursor, and the end of the one at it. */
static size_t before(const struct line *l)
{
    size_t at = l->at > 0 ? l->at - 1 : 0;
    while (at > 0 && continues(l->text[at]))
        at--;
    return at;
}

static size_t after(const struct line *l)
{
    size_t at = l->at;
    if (l->text[at] != '\0')
        at++;
    while (continues(l->text[at]))
        at++;
    return at;
}

static void cut(struct line *l, size_t from, size_t to)
{
    memmove(l->text + from, l->text + to, strlen(l->text + to) + 1);
    l->at = from;
}

static void insert(struct line *l, uint32_t c)
{
    char bytes[4];
    size_t n = 0, used = strlen(l->text);
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else if (c < 0x800) {
        bytes[n++] = (char)(0xc0 | c >> 6);
        bytes[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        bytes[n++] = (char)(0xe0 | c >> 12);
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        bytes[n++] = (char)(0xf0 | c >> 18);
        bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[n++] = (char)(0x80 | (c & 0x3f));
    }
    if (used + n >= UI_TYPED_BYTES)
        return;
    memmove(l->text + l->at + n, l->text + l->at, used - l->at + 1);
    memcpy(l->text + l->at, bytes, n);
    l->at += n;
}

/* The start of the word before the cursor. */
static size_t word(const struct line *l)
{
    size_t at = l->at;
    while (at > 0 && l->text[at - 1] == ' ')
        at--;
    while (at > 0 && l->text[at - 1] != ' ')
        at--;
    return at;
}

static void edit(struct line *l, uint32_t key, const struct ui_prompt *last)
{
    switch (key) {
    case SCREEN_KEY_LEFT:
    case SCREEN_CTRL('b'):
        l->at = before(l);
        break;
    case SCREEN_KEY_RIGHT:
    case SCREEN_CTRL('f'):
        l->at = after(l);
        break;
    case SCREEN_KEY_HOME:
    case SCREEN_CTRL('a'):
        l->at = 0;
        break;
    case SCREEN_KEY_FINISH:
    case SCREEN_CTRL('e'):
        l->at = strlen(l->text);
        break;
    case SCREEN_KEY_BACKSPACE:
        cut(l, before(l), l->at);
        break;
    case SCREEN_KEY_DELETE:
    case SCREEN_CTRL('d'):
        cut(l, l->at, after(l));
        break;
    case SCREEN_CTRL('u'):
        cut(l, 0, l->at);
        break;
    case SCREEN_CTRL('k'):
        l->text[l->at] = '\0';
        break;
    case SCREEN_CTRL('w'):
        cut(l, word(l), l->at);
        break;
    case SCREEN_KEY_UP:
    case SCREEN_CTRL('p'):
        (void)snprintf(l->text, UI_TYPED_BYTES, "%s", last->last);
        l->at = strlen(l->text);
        break;
    default:
        if (key >= ' ' && key < SCREEN_KEY_NONE && key != 0x7f)
            insert(l, key);
    }
}

bool ui_ask(struct ui *ui, const char *prompt, char typed[UI_TYPED_BYTES],
            const struct ui_prompt *last)
{
    struct line l = { .text = typed, .at = strlen(typed) };
    for (;;) {
        screen_draw(&(struct screen_picture){ .view = ui->view,
                                              .model = &ui->model,
                                              .title = ui->view != NULL ? ui->view->title : "",
                                              .message = "",
                                              .prompt = prompt,
                                              .typed = typed,
                                              .typed_at = l.at });
        uint32_t key = ui_key(ui);
        if (key == SCREEN_KEY_END || key == SCREEN_ESCAPE || key == SCREEN_CTRL('c') ||
            key == SCREEN_CTRL('g'))
            return false;
        if (key == SCREEN_KEY_BACKSPACE && typed[0] == '\0') /* as in less */
            return false;
        if (key == '\r')
            return true;
        if (key == SCREEN_KEY_REDRAW && ui->view != NULL && browse_wrap(ui->view, screen_columns()))
            browse_fit(ui->view, ui_height());
        edit(&l, key, last);
    }
}

bool ui_confirm(struct ui *ui, const char *question)
{
    uint32_t key;
    do {
        screen_draw(&(struct screen_picture){ .view = ui->view,
                                              .model = &ui->model,
                                              .title = ui->view->title,
                                              .message = "",
                                              .prompt = question,
                                              .typed = "" });
        key = ui_key(ui);
    } while (key == SCREEN_KEY_REDRAW);
    return key == 'y' || key == 'Y';
}
