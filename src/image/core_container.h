/* Core files as a container of events; src/trace has the table of containers. */
#ifndef GCD_IMAGE_CORE_CONTAINER_H
#define GCD_IMAGE_CORE_CONTAINER_H

#include "base/container.h"
#include "image/space/image.h"

extern const struct gcd_container core_container;

#endif
