/* Notes what the session has computed, for lines, which never compute. */
#include "browse/model.h"

void browse_learn(struct browse_model *m, enum browse_kind opened)
{
    /* all of these exist already, so the calls cannot fail and take no time */
    gcd_status st = GCD_OK;
    if (opened == BROWSE_SUSPECTS) {
        st = gcd_session_suspects(m->session, NULL, &m->suspects, NULL);
        if (st == GCD_OK)
            st = gcd_session_largest_consumer(m->session, NULL, &m->largest, NULL);
    }
    if (opened == BROWSE_ASYNC) {
        st = gcd_session_async(m->session, NULL, &m->async, NULL);
        if (st == GCD_OK)
            st = gcd_session_origins(m->session, NULL, &m->origins, NULL);
    }
    if (st == GCD_OK && (opened == BROWSE_SUSPECTS || opened == BROWSE_TREE ||
                         opened == BROWSE_OBJECT || opened == BROWSE_TYPE))
        st = gcd_session_dominators(m->session, NULL, &m->dominators, NULL);
    if (st == GCD_OK &&
        (opened == BROWSE_TYPE || (opened == BROWSE_TYPES && m->dominators != NULL)))
        st = gcd_session_retained_by_type(m->session, NULL, &m->by_type, NULL);
    (void)st;
}
