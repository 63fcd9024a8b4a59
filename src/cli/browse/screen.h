/*
 * The terminal.  Only screen.c and draw.c know ncurses.
 */
#ifndef GCD_CLI_BROWSE_SCREEN_H
#define GCD_CLI_BROWSE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "browse/model.h"
#include "exit.h"

/* In a smaller window, only a line says so. */
#define SCREEN_COLUMNS_MIN 40u
#define SCREEN_LINES_MIN   10u
/* Lines outside the list: title, heads, status, messages. */
#define SCREEN_FRAME_LINES 4u

/* Keys that are not characters. */
enum screen_key {
    SCREEN_KEY_NONE = 0x200000, /* nothing came in time */
    SCREEN_KEY_END,             /* the terminal is gone, or a signal ends the program */
    SCREEN_KEY_READY,           /* the descriptor is ready */
    SCREEN_KEY_REDRAW,          /* the size changed, or another program used the terminal */
    SCREEN_KEY_UP,
    SCREEN_KEY_DOWN,
    SCREEN_KEY_LEFT,
    SCREEN_KEY_RIGHT,
    SCREEN_KEY_PAGE_UP,
    SCREEN_KEY_PAGE_DOWN,
    SCREEN_KEY_HOME,
    SCREEN_KEY_FINISH,
    SCREEN_KEY_BACKSPACE,
    SCREEN_KEY_DELETE,
    SCREEN_KEY_BACK_TAB,
    SCREEN_KEY_OTHER
};
#define SCREEN_CTRL(c) ((uint32_t)(c)&0x1f)
#define SCREEN_ESCAPE  27u

/* Checks that there is a terminal that can show a browser, and chooses the locale.  CLI_FAILED
 * after a message. */
enum cli_exit screen_check(void);
/* Is the locale ASCII only? */
bool screen_is_ascii(void);

/* Takes over the terminal until screen_close.  CLI_FAILED after a message. */
enum cli_exit screen_open(void);
/* Restores the terminal; may be called again. */
void screen_close(void);
size_t screen_columns(void);
size_t screen_lines(void);

/* The next key.  Waits at most TIMEOUT_MS, and for the descriptor READY (-1 = none). */
uint32_t screen_key(int timeout_ms, int ready);
/* Stops the whole job, because the user wants the shell; returns when it continues. */
void screen_suspend(void);

/* terminal_fallback.c: the description of a terminal like xterm, for machines without a terminal
 * database. */
extern const char browse_fallback[], browse_fallback_name[];

/* ---- what is shown ---- */

struct screen_picture {
    const struct browse_view *view; /* NULL: none yet */
    const struct browse_model *model;
    const char *title;   /* path to the view */
    const char *message; /* in the last line, unless there is a prompt; "" = show the keys */
    const char *prompt;  /* NULL = none */
    const char *typed;   /* after the prompt */
    size_t typed_at;     /* bytes of TYPED before the cursor */
    bool busy;           /* draw only the message: the view may not be used */
};
/* Makes the next picture draw everything again. */
void screen_redraw(void);
void screen_draw(const struct screen_picture *p);

#endif
