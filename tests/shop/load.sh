#!/bin/sh
# load.sh CUSTOMERS: one load of the coffee shop for tools/ci/heap-gate.sh; done when the shop says "ready" once more.
set -eu
said() { grep -c ready "$GATE_OUTPUT" || true; }
while [ "$(said)" -eq 0 ]; do sleep 0.1; done        # it has opened
before=$(said)
echo "$1" >"$GATE_INPUT"
while [ "$(said)" -eq "$before" ]; do sleep 0.1; done
