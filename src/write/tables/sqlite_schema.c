#include "write/tables/sqlite_schema.h"

const struct sqlite_table sqlite_schema_tables[TABLES] = {
    [TABLE_OF_FACTS] = { "facts", "key TEXT PRIMARY KEY, value", "WITHOUT ROWID" },
    [TABLE_OF_TYPES] = { "types",
                         "id INTEGER PRIMARY KEY, name TEXT NOT NULL, raw_name TEXT, module TEXT, "
                         "module_id INTEGER,"
                         " method_table INTEGER, name_token INTEGER NOT NULL, flags INTEGER NOT "
                         "NULL, element_type INTEGER NOT NULL,"
                         " described INTEGER NOT NULL, objects INTEGER NOT NULL, bytes INTEGER NOT "
                         "NULL",
                         "" },
    [TABLE_OF_OBJECTS] = { "objects",
                           "id INTEGER PRIMARY KEY, type_id INTEGER NOT NULL REFERENCES types(id), "
                           "size_bytes INTEGER NOT NULL,"
                           " address INTEGER, generation INTEGER",
                           "" },
    [TABLE_OF_EDGES] = { "edges",
                         "from_id INTEGER NOT NULL REFERENCES objects(id), slot INTEGER NOT NULL,"
                         " to_id INTEGER NOT NULL REFERENCES objects(id), field TEXT, element "
                         "INTEGER,"
                         " PRIMARY KEY(from_id, slot)",
                         "WITHOUT ROWID" },
    [TABLE_OF_ROOTS] = { "roots",
                         "id INTEGER PRIMARY KEY, kind TEXT NOT NULL, root_group TEXT NOT NULL, "
                         "flags INTEGER NOT NULL, name TEXT,"
                         " address INTEGER, object_id INTEGER NOT NULL REFERENCES objects(id), "
                         "type_id INTEGER NOT NULL REFERENCES types(id),"
                         " class TEXT, label TEXT",
                         "" },
    [TABLE_OF_DEPENDENTS] = { "dependent_handles",
                              "id INTEGER PRIMARY KEY, key_id INTEGER NOT NULL REFERENCES "
                              "objects(id),"
                              " value_id INTEGER NOT NULL REFERENCES objects(id)",
                              "" },
    [TABLE_OF_RANGES] = { "ranges",
                          "id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, start INTEGER, "
                          "used_bytes INTEGER NOT NULL,"
                          " reserved_bytes INTEGER NOT NULL",
                          "" },
    [TABLE_OF_STRINGS] = { "strings",
                           "object_id INTEGER PRIMARY KEY REFERENCES objects(id), length INTEGER "
                           "NOT NULL, text TEXT, masked TEXT, hash TEXT NOT NULL",
                           "" },
    [TABLE_OF_FIELDS] = { "fields",
                          "object_id INTEGER NOT NULL REFERENCES objects(id), field TEXT, kind "
                          "TEXT "
                          "NOT NULL, integer INTEGER, real REAL, text TEXT, masked TEXT,"
                          " target_id INTEGER REFERENCES objects(id)",
                          "" },
    [TABLE_OF_DOMINATORS] = { "dominators",
                              "object_id INTEGER PRIMARY KEY REFERENCES objects(id), parent_id "
                              "INTEGER REFERENCES objects(id),"
                              " retained_bytes INTEGER NOT NULL",
                              "" },
};

const struct sqlite_index sqlite_schema_indexes[INDEXES] = {
    { "edges_to", TABLE_OF_EDGES, "to_id" },
    { "objects_type", TABLE_OF_OBJECTS, "type_id" },
    { "objects_address", TABLE_OF_OBJECTS, "address" },
    { "dominators_parent", TABLE_OF_DOMINATORS, "parent_id" },
    { "dominators_retained", TABLE_OF_DOMINATORS, "retained_bytes" },
    { "roots_object", TABLE_OF_ROOTS, "object_id" },
    { "dependent_handles_key", TABLE_OF_DEPENDENTS, "key_id" },
    { "fields_object", TABLE_OF_FIELDS, "object_id" },
    { "dependent_handles_value", TABLE_OF_DEPENDENTS, "value_id" },
};

const char sqlite_schema_views[] =
    "CREATE VIEW v_types_by_bytes AS"
    " SELECT id AS type_id, name, module, objects, bytes FROM types WHERE objects > 0 ORDER BY "
    "bytes DESC, objects DESC, id;"

    "CREATE VIEW v_objects AS"
    " SELECT o.id, iif(o.address IS NULL, NULL, printf('0x%x', o.address)) AS address, t.name AS "
    "type, o.size_bytes, o.generation,"
    " d.retained_bytes, d.parent_id"
    " FROM objects o JOIN types t ON t.id = o.type_id LEFT JOIN dominators d ON d.object_id = o.id;"

    "CREATE VIEW v_largest_retained AS"
    " SELECT d.object_id, t.name AS type, o.size_bytes, d.retained_bytes, d.parent_id"
    " FROM dominators d CROSS JOIN objects o ON o.id = d.object_id CROSS JOIN types t ON t.id = "
    "o.type_id"
    " ORDER BY d.retained_bytes DESC;"

    "CREATE VIEW v_roots_summary AS"
    " SELECT r.root_group, r.kind, count(*) AS roots, count(DISTINCT r.object_id) AS objects FROM "
    "roots r"
    " GROUP BY r.root_group, r.kind ORDER BY roots DESC, r.root_group, r.kind;"

    "CREATE VIEW v_roots AS"
    " SELECT r.id, r.root_group, r.kind, r.name, r.object_id, t.name AS type, o.size_bytes, "
    "d.retained_bytes, r.class, r.label FROM roots r"
    " JOIN objects o ON o.id = r.object_id JOIN types t ON t.id = o.type_id LEFT JOIN dominators d "
    "ON d.object_id = r.object_id;"

    "CREATE VIEW v_who_references AS"
    " SELECT e.to_id AS object_id, 'edge' AS via, e.from_id, e.slot, t.name AS from_type, "
    "o.size_bytes AS from_size_bytes"
    " FROM edges e JOIN objects o ON o.id = e.from_id JOIN types t ON t.id = o.type_id"
    " UNION ALL"
    " SELECT h.value_id, 'dependent_handle', h.key_id, NULL, t.name, o.size_bytes"
    " FROM dependent_handles h JOIN objects o ON o.id = h.key_id JOIN types t ON t.id = o.type_id"
    " UNION ALL"
    " SELECT r.object_id, 'root', NULL, NULL, r.root_group || coalesce(' ' || r.label, ''), NULL "
    "FROM roots r;"

    "CREATE VIEW v_dominated AS"
    " SELECT d.parent_id AS object_id, d.object_id AS dominated_id, t.name AS type, o.size_bytes, "
    "d.retained_bytes"
    " FROM dominators d JOIN objects o ON o.id = d.object_id JOIN types t ON t.id = o.type_id;"

    "CREATE VIEW v_generations AS"
    " SELECT CASE generation WHEN 3 THEN 'loh' WHEN 4 THEN 'poh' ELSE coalesce('gen' || generation,"
    " iif(EXISTS (SELECT 1 FROM ranges), 'nongc', 'unknown')) END AS generation,"
    " count(*) AS objects, CAST(total(size_bytes) AS INTEGER) AS bytes FROM objects GROUP BY "
    "objects.generation ORDER BY objects.generation;"

    "CREATE VIEW v_unreachable AS"
    " SELECT o.id AS object_id, t.name AS type, o.size_bytes FROM objects o JOIN types t ON t.id = "
    "o.type_id"
    " WHERE NOT EXISTS (SELECT 1 FROM dominators d WHERE d.object_id = o.id)"
    /* what only code holds: gcd_is_frozen */
    " AND NOT (o.generation IS NULL AND EXISTS (SELECT 1 FROM ranges)"
    " AND (SELECT CAST(value AS INTEGER) FROM facts WHERE key = 'complete') = 1);";
