"""Does a value fit a JSON Schema?  The part of the language that tools/doc/summary.schema.json uses; any other keyword is an error."""
import re

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "properties", "additionalProperties", "items", "maxItems",
         "enum", "const", "minimum", "maximum", "pattern"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (not isinstance(value, bool) or name == "boolean")


def problems(value, schema, root=None, where="$"):
    """Texts; fields that the schema does not name are problems, too: a document that forgets one is wrong."""
    root = root or schema
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    kinds = schema.get("type", [])
    if kinds and not any(is_type(value, k) for k in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{where}: {value!r:.60} is not {kinds}"
        return
    if "const" in schema and value != schema["const"] or value not in schema.get("enum", [value]):
        yield f"{where}: {value!r:.60}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where}: {value!r:.60} does not match {schema['pattern']}"
    if is_type(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where}: {value} is out of range"
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        for i, item in enumerate(value):
            yield from problems(item, schema["items"], root, f"{where}[{i}]")
    if isinstance(value, dict):
        names = schema.get("properties", {})
        yield from (f"{where}: no {key}" for key in schema.get("required", []) if key not in value)
        for key, item in value.items():
            if key in names:
                yield from problems(item, names[key], root, f"{where}.{key}")
            elif "additionalProperties" in schema:
                yield from problems(item, schema["additionalProperties"], root, f"{where}.{key}")
            else:
                yield f"{where}: {key} is not in the schema"
