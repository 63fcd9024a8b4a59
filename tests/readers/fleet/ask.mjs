// Runs SQL statements in DuckDB: standard input is a JSON array of texts, standard output one of the rows of each.
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
const answers = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  const reader = await connection.runAndReadAll(text);
  answers.push(reader.getRowObjectsJson());
}
process.stdout.write(JSON.stringify(answers));
