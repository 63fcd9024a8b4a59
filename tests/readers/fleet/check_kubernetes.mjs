// Are the objects in a YAML file objects of the Kubernetes API?  Types and required fields are checked by the schema of the API as kubernetes-models has
// it; it lets fields pass that it does not know, so each key must besides be the name of a field somewhere in the API groups used.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import yaml from "js-yaml";

const root = join(createRequire(import.meta.url).resolve("kubernetes-models/package.json"), "..");
const modules = { "v1": "v1", "batch/v1": "batch/v1", "rbac.authorization.k8s.io/v1": "rbac.authorization.k8s.io/v1" };
const fields = new Set();
for (const folder of [...Object.values(modules), "apimachinery"]) {
  const path = folder === "apimachinery" ? join(root, "..", "@kubernetes-models", "apimachinery", "apis", "meta", "v1") : join(root, folder);
  for (const name of readdirSync(path).filter((n) => n.endsWith(".d.ts")))
    for (const [, field] of readFileSync(join(path, name), "utf8").matchAll(/^\s+"?(\w+)"?\??:/gm)) fields.add(field);
}

function unknownKeys(value, where) {
  if (Array.isArray(value)) return value.flatMap((v, i) => unknownKeys(v, `${where}[${i}]`));
  if (value === null || typeof value !== "object") return [];
  const free = /\.(labels|annotations|limits|requests|matchLabels|emptyDir)$/.test(where);
  return Object.entries(value).flatMap(([key, v]) => [...(free || fields.has(key) ? [] : [`${where}.${key}: no such field`]), ...unknownKeys(v, `${where}.${key}`)]);
}

const problems = [];
for (const object of yaml.loadAll(readFileSync(0, "utf8"))) {
  const where = `${object.kind} ${object.metadata?.name}`;
  const group = modules[object.apiVersion];
  const models = group === undefined ? {} : await import(`kubernetes-models/${group}`);
  if (models[object.kind] === undefined) {
    problems.push(`${where}: no ${object.kind} in ${object.apiVersion}`);
    continue;
  }
  try {
    new models[object.kind](object).validate();
  } catch (e) {
    problems.push(`${where}: ${e.message}`);
  }
  problems.push(...unknownKeys(object, where));
}
process.stdout.write(JSON.stringify(problems));
