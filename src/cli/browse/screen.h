/*
 * The terminal: only screen.c and draw.c know ncurses.
 */
#ifndef GCD_CLI_BROWSE_SCREEN_H
#define GCD_CLI_BROWSE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "browse/model.h"
#include "exit.h"

/* Of smaller windows one line says so. */
#define SCREEN_COLUMNS_MIN 40u
#define SCREEN_LINES_MIN 10u
/* Lines that are no list: title, heads, status, messages. */
#define SCREEN_FRAME_LINES 4u

/* Characters are themselves; these are not. */
enum screen_key {
    SCREEN_KEY_NONE = 0x200000,  /* nothing came in time */
    SCREEN_KEY_END,              /* the terminal is gone, or a signal ends the program */
    SCREEN_KEY_READY,            /* the descriptor that was waited for */
    SCREEN_KEY_REDRAW,           /* another size, or another program used the terminal */
    SCREEN_KEY_UP, SCREEN_KEY_DOWN, SCREEN_KEY_LEFT, SCREEN_KEY_RIGHT, SCREEN_KEY_PAGE_UP, SCREEN_KEY_PAGE_DOWN,
    SCREEN_KEY_HOME, SCREEN_KEY_FINISH, SCREEN_KEY_BACKSPACE, SCREEN_KEY_DELETE, SCREEN_KEY_BACK_TAB,
    SCREEN_KEY_OTHER
};
#define SCREEN_CTRL(c) ((uint32_t)(c) & 0x1f)
#define SCREEN_ESCAPE 27u

/* Is there a terminal that can show a browser?  CLI_FAILED after a line.  Chooses the locale. */
enum cli_exit screen_check(void);
/* Is its locale one of ASCII? */
bool screen_is_ascii(void);

/* From here on the terminal is the browser's, until screen_close.  CLI_FAILED after a line. */
enum cli_exit screen_open(void);
/* As before; may be called again. */
void screen_close(void);
size_t screen_columns(void);
size_t screen_lines(void);

/* The next key; waits for TIMEOUT_MS at most, and for READY, a descriptor; -1 = none. */
uint32_t screen_key(int timeout_ms, int ready);
/* The user wants a shell: all of the job stops, and goes on here. */
void screen_suspend(void);

/* terminal_fallback.c: the description of a terminal like xterm, where the machine has no database of them. */
extern const char browse_fallback[], browse_fallback_name[];

/* ---- what is shown ---- */

struct screen_picture {
    const struct browse_view *view;      /* NULL: none yet */
    const struct browse_model *model;
    const char *title;           /* where the view is */
    const char *message;         /* in the last line, unless there is a prompt; "" = the keys */
    const char *prompt;          /* NULL = none */
    const char *typed;           /* behind it */
    size_t typed_at;             /* bytes of TYPED before the cursor */
    bool busy;                   /* only the message: nobody may look at the view */
};
/* The next picture is drawn from scratch. */
void screen_redraw(void);
void screen_draw(const struct screen_picture *p);

#endif
