/*
 * State and functions shared by the files that run the browser.
 */
#ifndef GCD_CLI_BROWSE_UI_H
#define GCD_CLI_BROWSE_UI_H

#include "args.h"
#include "browse/screen.h"

#define UI_MESSAGE_BYTES 512
#define UI_TYPED_BYTES   2048
#define UI_AHEAD         1024

/* The last input at a prompt, kept for the next time. */
struct ui_prompt {
    char last[UI_TYPED_BYTES];
};

struct ui {
    const struct cli_args *args;
    struct browse_model model;
    /* main views opened so far, by kind; they stay */
    struct browse_view *mains[BROWSE_MAIN_VIEWS];
    struct browse_view *view; /* the view shown; Back shows the views below it */
    char message[UI_MESSAGE_BYTES];
    struct ui_prompt search, sql, file, object;
    bool back;                /* search upwards */
    uint32_t ahead[UI_AHEAD]; /* keys typed during a computation */
    size_t ahead_count;
    bool done; /* the user quits, or: */
    bool gone; /* the terminal is gone, or a signal ends the program */
};

void ui_say(struct ui *ui, const char *fmt, ...) GCD_PRINTF(2, 3);
/* The number of lines for the list. */
uint64_t ui_height(void);
void ui_draw(struct ui *ui);
/* The next key, possibly typed before. */
uint32_t ui_key(struct ui *ui);

/* prompt.c: edits one line at the bottom, in TYPED, which may hold a beginning.  False: the user
 * gave up. */
bool ui_ask(struct ui *ui, const char *prompt, char typed[UI_TYPED_BYTES],
            const struct ui_prompt *before);
/* Asks for y or n; any other key means n. */
bool ui_confirm(struct ui *ui, const char *question);

/*
 * work.c: runs WORK in another thread, with progress in the last line after a moment; Ctrl-C
 * cancels it.  Returns its status; after GCD_E_CANCELED a message is shown.
 */
typedef gcd_status (*ui_work_fn)(void *ctx, const struct gcd_context *call, struct gcd_error *err);
gcd_status ui_work(struct ui *ui, const char *verb, ui_work_fn work, void *ctx,
                   struct gcd_error *err);

/* keys.c: what a key does. */
void ui_press(struct ui *ui, uint32_t key);
/* Opens one of the four main views.  False after a message. */
bool ui_open_main(struct ui *ui, enum browse_kind kind);
void ui_free(struct ui *ui);

#endif
