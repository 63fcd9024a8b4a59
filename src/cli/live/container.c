/*
 * The container that --container means.  The kernel knows the ids of containers, not their names;
 * Docker keeps a name in a file.
 */
#include <gcdumpc/gcdumpc.h>

#include "live/target.h"

#ifdef GCDUMPC_HAVE_IPC

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Beginnings that are shorter are not told from names. */
#define LEAST_DIGITS 4
#define HEX_DIGITS   "0123456789abcdef"

const char *cli_container_name(const char *root, const char *id, char *ret)
{
    char path[512];
    ret[0] = '\0';
    int n = snprintf(path, sizeof path, "%s/var/lib/docker/containers/%s/config.v2.json", root, id);
    json_t *o = n > 0 && (size_t)n < sizeof path ? json_load_file(path, 0, NULL) : NULL;
    const char *name = json_string_value(json_object_get(o, "Name"));
    if (name != NULL && strlen(name) < CLI_CONTAINER_NAME_BYTES)
        (void)snprintf(ret, CLI_CONTAINER_NAME_BYTES, "%s", name + (name[0] == '/'));
    json_decref(o);
    return ret;
}

bool cli_container_fits(const char *root, const char *id, const char *text)
{
    char name[CLI_CONTAINER_NAME_BYTES];
    const char *scheme = strstr(text, "://");
    if (id == NULL || id[0] == '\0')
        return false;
    if (scheme != NULL)
        text = scheme + 3;
    size_t n = strlen(text);
    if (n >= LEAST_DIGITS && strspn(text, HEX_DIGITS) == n && strncmp(id, text, n) == 0)
        return true;
    return strcmp(cli_container_name(root, id, name), text) == 0 && n > 0;
}

#endif
