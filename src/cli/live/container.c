/*
 * The container that --container means.  The kernel knows the ids of containers, not their names;
 * each engine keeps those in a file, which is read without asking the engine.
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

/* The name in the file of one container, whose O is the content. */
static const char *name_of_docker(const json_t *o, const char *id)
{
    (void)id;
    const char *name = json_string_value(json_object_get(o, "Name"));
    return name != NULL ? name + (name[0] == '/') : NULL;
}

static const char *name_of_containerd(const json_t *o, const char *id)
{
    (void)id;
    return json_string_value(
        json_object_get(json_object_get(o, "annotations"), "io.kubernetes.cri.container-name"));
}

/* Podman and CRI-O have one file for all containers: [{"id": ID, "names": [NAME]}]. */
static const char *name_of_storage(const json_t *o, const char *id)
{
    for (size_t i = 0; i < json_array_size(o); i++) {
        const json_t *one = json_array_get(o, i);
        const char *its = json_string_value(json_object_get(one, "id"));
        if (its != NULL && strcmp(its, id) == 0)
            return json_string_value(json_array_get(json_object_get(one, "names"), 0));
    }
    return NULL;
}

#define STORAGE "/var/lib/containers/storage/overlay-containers/"

static const struct engine {
    const char *before, *after; /* what the path has around the id; after = NULL: no id */
    const char *(*name)(const json_t *o, const char *id);
} engines[] = {
    { "/var/lib/docker/containers/", "/config.v2.json", name_of_docker },
    { "/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", name_of_containerd },
    { "/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json",
      name_of_containerd },
    { STORAGE "containers.json", NULL, name_of_storage },
    { STORAGE "volatile-containers.json", NULL, name_of_storage }, /* podman run --rm */
};

/* Copies NAME: of k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, which CRI-O and Docker make for
 * Kubernetes, only CONTAINER. */
static void copy_name(const char *name, char *ret)
{
    int parts = 1;
    for (const char *c = name; *c != '\0'; c++)
        parts += *c == '_';
    size_t n = strlen(name);
    if (parts == 6 && strncmp(name, "k8s_", 4) == 0) {
        name += 4;
        n = strcspn(name, "_");
    }
    if (n < CLI_CONTAINER_NAME_BYTES)
        (void)snprintf(ret, CLI_CONTAINER_NAME_BYTES, "%.*s", (int)n, name);
}

const char *cli_container_name(const char *root, const char *id, char *ret)
{
    char path[512];
    ret[0] = '\0';
    for (size_t i = 0; i < sizeof engines / sizeof *engines && ret[0] == '\0'; i++) {
        const struct engine *e = &engines[i];
        int n = snprintf(path, sizeof path, "%s%s%s%s", root, e->before, e->after != NULL ? id : "",
                         e->after != NULL ? e->after : "");
        json_t *o = n > 0 && (size_t)n < sizeof path ? json_load_file(path, 0, NULL) : NULL;
        const char *name = e->name(o, id);
        if (name != NULL)
            copy_name(name, ret);
        json_decref(o);
    }
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
