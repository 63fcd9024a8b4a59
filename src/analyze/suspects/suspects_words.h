/*
 * Phrases for suspects, so that all kinds and outputs use the same words.  Each kind writes its own
 * sentence (suspects_say_…) in the file that searches for it.
 */
#ifndef GCD_ANALYZE_SUSPECTS_WORDS_H
#define GCD_ANALYZE_SUSPECTS_WORDS_H

#include "analyze/suspects/suspects.h"

#define SUSPECT_WORDS_BYTES ((size_t)GCD_HEADLINE_BYTES)
/* Names are cut after this many bytes; nested generic arguments would bury the sentence. */
#define SUSPECT_NAME_BYTES 160u

/* The full name of each short name in a text, as hashes of both. */
#define SUSPECT_NAMES_MAX 64u
struct suspect_names {
    struct suspect_name {
        uint64_t full, word;
    } items[SUSPECT_NAMES_MAX];
    size_t count;
};

/* A text under construction. */
struct suspect_words {
    const struct suspects_work *w;
    struct suspect_names *names; /* NULL = short names need not match those of another text */
    char text[SUSPECT_WORDS_BYTES];
    size_t n;
    size_t condition; /* an advice begins with so many bytes of a condition */
    bool size_only; /* so says the advice: only if it grows, or is not needed, something is wrong */
    bool limited;   /* so says the advice: by a number that is known */
    bool unlimited; /* so says the advice: it could have a limit, and has none */
    bool may_be_limited; /* it says what adds to a collection, which may stop doing so */
    bool certain;        /* so says the advice: a fault, whether it grows or not */
    bool by_design; /* so says the advice: to be large is no fault, a second dump shows nothing new
                     */
};

/* Drops what does not fit.  Because the length of names is limited, everything fits. */
void suspects_put(struct suspect_words *s, const char *fmt, ...) GCD_PRINTF(2, 3);

/* A name, cut if it is very long. */
void suspects_put_name(struct suspect_words *s, const char *name);
/*
 * suspects_names.c: NAME[N] shortened: the last SEGMENTS segments of its first word, the last
 * segment of each other word, and the types without parameters in which these are nested.  RAW: the
 * same name in the runtime's spelling.
 */
void suspects_put_short(struct suspect_words *s, const char *name, size_t n, unsigned segments,
                        const char *raw);
/* The short name of a type. */
void suspects_put_type(struct suspect_words *s, uint32_t type);
/* "12,345"; "1 object", "2 objects"; "2 Shop.Order objects"; "12.3 MiB"; "8.1 % of the heap". */
void suspects_put_number(struct suspect_words *s, uint64_t n);
void suspects_put_count(struct suspect_words *s, uint64_t n, const char *one, const char *many);
void suspects_put_typed(struct suspect_words *s, uint64_t n, uint32_t type);
/* "3 calls of Shop.Feed.ReadAsync", "2 iterators of Shop.Cart.Items", "1 lambda in Shop.Cart";
 * false, and nothing, if people call the objects by their type. */
bool suspects_put_made(struct suspect_words *s, uint64_t n, uint32_t type);
void suspects_put_bytes(struct suspect_words *s, uint64_t bytes);
void suspects_put_share(struct suspect_words *s, double share);
/* suspects_names.c: does NAME need "an", judging by its beginning? */
bool suspects_is_an(const char *name);
/* "A " or "An " for the name of TYPE; SMALL: "a " or "an ". */
void suspects_put_article(struct suspect_words *s, uint32_t type, bool small);
/* "a static variable"; MANY: "static variables". */
void suspects_put_group(struct suspect_words *s, enum gcd_root_group group, bool many);
/* "the static variable Shop.Cache.s_items", "a thread stack", "a static variable without a name";
 * ROOT is not SIZE_MAX. */
void suspects_put_root(struct suspect_words *s, size_t root);
/* " where the runtime keeps static variables; ...", about the suspect itself. */
void suspects_put_statics(struct suspect_words *s);
void suspects_advise_statics(struct suspect_words *s);
/*
 * How long the owner of X, which has a path and a root, lives: " SUBJECT is registered in the
 * service provider and lives as long as the program." SUBJECT is "It" or the like.
 */
void suspects_put_lifetime(struct suspect_words *s, const struct suspect *x, const char *subject);
/* Is it the list of disposable services of the service provider's root scope? */
bool suspects_is_in_root_scope(const struct suspect_words *s, const struct suspect *x);
/* Is it a table of a database that Entity Framework keeps in memory? */
bool suspects_is_in_memory_database(const struct suspect_words *s, const struct suspect *x);
/* Does it tell more than the root? */
bool suspects_has_marker(const struct suspect_words *s, const struct suspect *x);
/* "one Shop.SessionStore (Shop.dll)"; only the module. */
void suspects_put_module(struct suspect_words *s, const struct gcd_suspect *p);
void suspects_put_owner(struct suspect_words *s, const struct gcd_suspect *p);
/* The owner of P, or of another way, with the field by which it holds the next object, if that is
 * certain: "SessionStore._byUser", "SessionStore". */
/* The field of P, an object of the program, with the collection that most of it is in; "". */
const char *suspects_only_field(const struct suspect_words *s, const struct gcd_suspect *p);
/* Does a thread's stack hold P, with nothing between? */
bool suspects_is_local(const struct suspect_words *s, const struct gcd_suspect *p);
void suspects_put_owner_place(struct suspect_words *s, const struct gcd_suspect *p);
/* The name of that field; "" = it is not certain. */
const char *suspects_owner_field(const struct suspect_words *s, const struct gcd_suspect *p);
void suspects_put_way_place(struct suspect_words *s, const struct gcd_suspect_way *way);
/* TYPE: are nearly all objects held by two of the program's objects or static variables, that on
 * the path and ways[0]?  Then both of them are the place. */
bool suspects_is_in_both(const struct suspects_work *w, const struct suspect *x);
/* "Shop.Depot.Open", or what people call a root without a name. */
void suspects_put_root_place(struct suspect_words *s, size_t root);
void suspects_put_both(struct suspect_words *s, const struct gcd_suspect *p);
/* " Your own types in it: Shop.Order (5,041 objects, 9.2 MiB)."; nothing when there are none. */
void suspects_put_own(struct suspect_words *s, const struct gcd_suspect *p);
/* " SUBJECT held by ROOT by way of OWNER.": a short form of the path to X; nothing without a path.
 * SUBJECT is "It is" or the like. */
void suspects_put_held_by(struct suspect_words *s, const struct suspect *x, const char *subject);
/* suspects_captured.c: " Most of that is in the variable image (Byte[]) of Belt.Add, ...": what
 * keeps the memory of lambdas; or nothing. */
void suspects_put_captured(struct suspect_words *s, const struct suspect *x);
/* Is P the value of a static variable, as a static event is? */
bool suspects_is_in_static(const struct suspect_words *s, const struct gcd_suspect *p);
/* "Intake._stopping", the field or static variable that refers to the object of X, behind BEFORE;
 * false, and nothing, if none is known. */
bool suspects_put_variable(struct suspect_words *s, const char *before, const struct suspect *x);
/* " keeps 12.3 MiB alive, 8.1 % of the heap"; MANY: " keep". */
void suspects_put_kept(struct suspect_words *s, const struct gcd_suspect *p, bool many);
/* ": look in Shop.Import.": the place in the program, if known, and the full stop. */
void suspects_put_look_in(struct suspect_words *s, const struct gcd_suspect *p);
/* The collection of X: SMALL "5,041 Shop.Session in a Dictionary<...>", else "A Dictionary<...>
 * with 5,041 Shop.Session".  True: it ends with an aside, ", mostly ...", that a comma must follow.
 */
bool suspects_put_collection(struct suspect_words *s, const struct suspect *x, bool small);
/* ", beside 3.1 MiB of large parts in it, which count alone", if there are any. */
void suspects_put_nested(struct suspect_words *s, const struct gcd_suspect *p);
/* What people call the objects that P holds most of: nodes of a list of the framework with one
 * object of the program in each are told as these. */
uint32_t suspects_part_type(const struct suspect_words *s, const struct gcd_suspect *p);
/* WORDS and "Supersedes", the field by which NODE is held by its parent; nothing if that is not
 * certain. */
void suspects_put_link(struct suspect_words *s, const char *words, uint32_t node);
/* "2,000 Thumbnail": these, of a cache of what was used last. */
void suspects_put_recent(struct suspect_words *s, const struct gcd_suspect *p);
/* "12 objects, mostly Order (9)", "12 objects, most of it in one OrderStore": what P holds.  True:
 * it ends with an aside. */
bool suspects_put_parts(struct suspect_words *s, const struct gcd_suspect *p);

/* Does an object of TYPE represent a call of an asynchronous method? */
bool suspects_is_call(const struct suspect_words *s, uint32_t type);
/* X is a semaphore with the calls that wait for it. */
bool suspects_is_gate(const struct suspects_work *w, const struct suspect *x);
/* Is TYPE the table of a Dictionary? */
bool suspects_is_table(const struct suspect_words *s, uint32_t type);
/* Does TYPE hold the variables that lambdas have captured? */
bool suspects_is_lambda(const struct suspect_words *s, uint32_t type);
/* Is it a source that CreateLinkedTokenSource makes?  Nobody looks for its class. */
bool suspects_is_linked_source(const struct suspect_words *s, uint32_t type);
/* WHO, the type behind a finding: an asynchronous method by its name, "a lambda in Shop.Import". */
void suspects_put_who(struct suspect_words *s, uint32_t who);
/* The same as a place to look: a lambda is "Shop.Import". */
void suspects_put_where(struct suspect_words *s, uint32_t who);
/* Is the type pub.held[I] behind a tenth of the objects of X, or of the bytes, or the first? */
bool suspects_is_holder(const struct suspect *x, size_t i);
/* BEFORE and "21.0 MiB", what the objects of pub.held[I] retain, if that is known. */
void suspects_put_holder_bytes(struct suspect_words *s, const struct suspect *x, size_t i,
                               const char *before);
/* "Shop.PollJob, Shop.Feed and Shop.Cart": the types behind a tenth of the bytes, but no linked
 * sources, and none of a framework beside those of the program.  False: there are none. */
bool suspects_put_holders(struct suspect_words *s, const struct suspect *x,
                          void (*put)(struct suspect_words *s, uint32_t type));
/* ", all for Shop.PollJob", ", 2,998 of them for Shop.PollJob" or ", 2,000 of them for Shop.PollJob
 * (2.0 MiB), 1,000 for Shop.Feed (1.0 MiB)" if HOW is " for "; nothing if no type behind it is
 * known. */
void suspects_put_behind(struct suspect_words *s, const struct suspect *x, const char *how);

/* "3,000 log scopes", for N objects of TYPE that are inside each other until somebody disposes of
 * them, or "12 values of threads, with only 3 threads left", which are in a list; BEHIND: the words
 * behind that.  Returns their number; 0, and nothing, for other types. */
uint64_t suspects_put_scopes(struct suspect_words *s, uint64_t n, uint32_t type, bool behind);
/* "99.8 % empty" */
void suspects_put_empty(struct suspect_words *s, const struct suspect *x);

/* Sentences and advice of each kind, in the file that searches for it; advice on objects and types
 * is in suspects_advice.c. */
void suspects_say_object(struct suspect_words *s, const struct suspect *x);
void suspects_advise_object(struct suspect_words *s, const struct suspect *x);
/* suspects_headline.c: where X is, what there is of it. */
void suspects_put_place(struct suspect_words *s, const struct suspect *x);
/* LEAD: X, or the clause that says what it consists of. */
void suspects_put_what(struct suspect_words *s, const struct suspect *x,
                       const struct suspect *lead);
/* "5,041 Session", or "12 elements" of several types; returns the number. */
uint64_t suspects_put_elements(struct suspect_words *s, const struct suspect *x);
/* The name of an assembly without its folder. */
void suspects_put_assembly(struct suspect_words *s, const struct gcd_module *m);

/* "OptionsMonitor<Flags>._onChange", the event of P; false, and nothing, if it is not known. */
bool suspects_put_event_place(struct suspect_words *s, const struct gcd_suspect *p);
void suspects_tell_handlers(struct suspect_words *s, const struct suspect *x);
void suspects_say_handlers(struct suspect_words *s, const struct suspect *x);
void suspects_advise_handlers(struct suspect_words *s, const struct suspect *x);
void suspects_say_type(struct suspect_words *s, const struct suspect *x);
void suspects_advise_type(struct suspect_words *s, const struct suspect *x);
void suspects_say_finalizers(struct suspect_words *s, const struct suspect *x);
void suspects_advise_finalizers(struct suspect_words *s, const struct suspect *x);
void suspects_say_pinned(struct suspect_words *s, const struct suspect *x);
void suspects_advise_pinned(struct suspect_words *s, const struct suspect *x);
void suspects_tell_collections(struct suspect_words *s, const struct suspect *x);
void suspects_advise_collections(struct suspect_words *s, const struct suspect *x);
void suspects_tell_sparse(struct suspect_words *s, const struct suspect *x);
void suspects_say_sparse(struct suspect_words *s, const struct suspect *x);
void suspects_advise_sparse(struct suspect_words *s, const struct suspect *x);
void suspects_tell_duplicates(struct suspect_words *s, const struct suspect *x);
void suspects_say_duplicates(struct suspect_words *s, const struct suspect *x);
/* "Country.Name", what refers to most strings of the most wasteful text; false: not known. */
bool suspects_put_text_holder(struct suspect_words *s, const struct suspect *x);
void suspects_tell_timers(struct suspect_words *s, const struct suspect *x);
void suspects_say_timers(struct suspect_words *s, const struct suspect *x);
void suspects_advise_timers(struct suspect_words *s, const struct suspect *x);
void suspects_tell_cancellation(struct suspect_words *s, const struct suspect *x);
void suspects_advise_cancellation(struct suspect_words *s, const struct suspect *x);
void suspects_tell_continuations(struct suspect_words *s, const struct suspect *x);
void suspects_say_continuations(struct suspect_words *s, const struct suspect *x);
void suspects_tell_tasks(struct suspect_words *s, const struct suspect *x);
void suspects_advise_tasks(struct suspect_words *s, const struct suspect *x);
void suspects_tell_async(struct suspect_words *s, const struct suspect *x);
void suspects_say_async(struct suspect_words *s, const struct suspect *x);
void suspects_tell_boxed(struct suspect_words *s, const struct suspect *x);
void suspects_tell_tracker(struct suspect_words *s, const struct suspect *x);
void suspects_tell_http(struct suspect_words *s, const struct suspect *x);
void suspects_tell_code(struct suspect_words *s, const struct suspect *x);
void suspects_tell_waits(struct suspect_words *s, const struct suspect *x);
void suspects_advise_waits(struct suspect_words *s, const struct suspect *x);
void suspects_tell_flows(struct suspect_words *s, const struct suspect *x);
void suspects_advise_flows(struct suspect_words *s, const struct suspect *x);
void suspects_tell_interned(struct suspect_words *s, const struct suspect *x);
void suspects_say_interned(struct suspect_words *s, const struct suspect *x);
void suspects_say_thread_statics(struct suspect_words *s, const struct suspect *x);
void suspects_say_assemblies(struct suspect_words *s, const struct suspect *x);
void suspects_advise_assemblies(struct suspect_words *s, const struct suspect *x);
void suspects_say_fragmentation(struct suspect_words *s, const struct suspect *x);
void suspects_tell_pins(struct suspect_words *s, const struct suspect *x);
void suspects_tell_weak_table(struct suspect_words *s, const struct suspect *x);
void suspects_advise_weak_table(struct suspect_words *s, const struct suspect *x);
void suspects_say_pools(struct suspect_words *s, const struct suspect *x);
void suspects_advise_pools(struct suspect_words *s, const struct suspect *x);

/* finding_timers.c: are nearly all timers of X those of Task.Delay in one method? */
bool suspects_are_delays(const struct suspect_words *s, const struct suspect *x);

#endif
