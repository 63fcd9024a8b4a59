/*
 * Labels of static variables, for all outputs, so that a variable has the same name everywhere.
 *
 * Where the class comes from differs.  On CoreCLR, the file of the module tells it
 * (gcd_root.class_name), or leaves several classes possible.  Mono sends it as the type of the
 * root.  Otherwise only the field is known.
 */
#ifndef GCDUMPC_UNSTABLE_STATIC_NAMES_H
#define GCDUMPC_UNSTABLE_STATIC_NAMES_H

#include <stdbool.h>

#include <gcdumpc/graph.h>
#include <gcdumpc/names.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>
#include <gcdumpc/unstable/origins.h>

/* R->class_name in the style of N, which was made from the summary that R belongs to; "" = unknown,
 * or R is not a static variable. */
const char *gcd_names_class(const struct gcd_names *n, const struct gcd_root *r);

/*
 * LABEL[N] with the names of the source, in BUF[N]: of "Shop.Cart.<All>k__BackingField"
 * "Shop.Cart.All", of "<StartupCode$Harbour>.$Main.state@8" of F# "Main.state".  Returns its
 * length.
 */
size_t gcd_static_source_label(const char *label, size_t n, char *buf);

/* Is it the field behind a property? */
bool gcd_static_is_property(const struct gcd_root *r);

/*
 * Does R hold the thread-static variables of a thread (.NET 9 and later)?  The runtime reports them
 * like local variables: an Object[] that refers to others.
 */
bool gcd_root_is_thread_static(const struct gcd_graph *g, const struct gcd_root *r);

/* Is R on the stack of a thread with a name? */
bool gcd_root_is_named_thread(const struct gcd_root *r);

/* The method in whose frame R is, at the end of its label; NULL = not on a stack, or not known. */
const char *gcd_root_method(const struct gcd_root *r);

/* Does the label say more than the field?  If so, it needs no type in front of it. */
bool gcd_static_is_labelled(const struct gcd_root *r);

struct gcd_static_words {
    const char *class_name; /* the type that declares it; "" = unknown, or several are possible */
    const char
        *label[3]; /* for people, one after the other: "Shop.OrderCache.s_items", "Shop.A.s_items or
                      Shop.B.s_items", "s_items"; all "" when it has no name */
};
/* The static variable R of G, or the stack of a thread: gcd_root.label.  NAMES may be NULL: names
 * as the runtime spells them.  Valid as long as G and NAMES. */
struct gcd_static_words gcd_static_words(const struct gcd_graph *g, const struct gcd_names *names,
                                         const struct gcd_root *r);
/* Is R a static variable of one of the program's own classes? */
bool gcd_static_is_own(const struct gcd_graph *g, const struct gcd_origins *origins,
                       const struct gcd_root *r);

#endif
