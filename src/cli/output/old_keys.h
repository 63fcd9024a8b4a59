/* --json=1: JSON with the keys of 0.2.0, for one version. */
#ifndef GCD_CLI_OUTPUT_OLD_KEYS_H
#define GCD_CLI_OUTPUT_OLD_KEYS_H

/* All JSON that COMMAND prints from now on has the old keys. */
void cli_json_use_old_keys(const char *command);

#endif
