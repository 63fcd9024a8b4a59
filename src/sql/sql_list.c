/* The list of tables and views for people, and the views that only queries have. */
#include "sql/sql_list.h"

#include "sql/sql.h"
#include "write/tables/sqlite_schema.h"

const char sql_list_views[] =
    "CREATE VIEW refs AS SELECT from_id AS source, to_id AS target, slot AS ordinal FROM edges;"
    "CREATE VIEW statics AS SELECT id, class, name, label, address, object_id, type_id FROM roots "
    "WHERE kind = 'static';";

static const struct gcd_sql_table others[] = {
    { "refs", "source, target, ordinal", "view: the references again, with these names" },
    { "statics", "id, class, name, label, address, object_id, type_id",
      "view: the roots that are static variables" },
    { "v_types_by_bytes", "type_id, name, module, objects, bytes",
      "view: types with objects, the largest first" },
    { "v_objects", "id, address, type, size_bytes, generation, retained_bytes, parent_id",
      "view: objects with texts for people" },
    { "v_largest_retained", "object_id, type, size_bytes, retained_bytes, parent_id",
      "view: objects that retain most" },
    { "v_roots_summary", "root_group, kind, roots, objects", "view: roots by group" },
    { "v_roots",
      "id, root_group, kind, name, object_id, type, size_bytes, retained_bytes, class, label",
      "view: roots with their objects" },
    { "v_who_references", "object_id, via, from_id, slot, from_type, from_size_bytes",
      "view: what holds an object: references, roots, handles" },
    { "v_dominated", "object_id, dominated_id, type, size_bytes, retained_bytes",
      "view: what an object dominates" },
    { "v_generations", "generation, objects, bytes", "view: objects by generation" },
    { "v_unreachable", "object_id, type, size_bytes", "view: objects that no root leads to" },
    { "path_from_root(object)", "step, object_id, type, size_bytes, root, field",
      "table: the shortest path to an object; as a function: in one text" },
    { "reachable_from(object)", "step, object_id, type, size_bytes, root, field",
      "table: what an object leads to, itself included, in steps from it" },
    { "type_name(type)", "", "function: the name of a type by its number" },
};

bool gcd_sql_table_at(size_t i, struct gcd_sql_table *ret)
{
    if (i < SQL_TABLES) {
        const struct sql_table *t = &sql_table_list[i];
        *ret = (struct gcd_sql_table){ .name = t->name,
                                       .about = t->about,
                                       .columns = t->columns != NULL
                                                      ? t->columns
                                                      : sqlite_schema_tables[t->table].columns };
        return true;
    }
    i -= SQL_TABLES;
    if (i >= sizeof others / sizeof *others)
        return false;
    *ret = others[i];
    return true;
}
