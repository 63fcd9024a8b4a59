// SPDX-License-Identifier: MIT
// A pprof profile decoded by pprof-format, with the checks that Go's pprof makes and pprof-format does not.
import fs from 'node:fs';
import zlib from 'node:zlib';
import {Profile} from 'pprof-format';
import {run, Sums} from './reader.mjs';

function check(condition, complaint) {
  if (!condition) {
    throw new Error(`malformed profile: ${complaint}`);
  }
}

// By id; an id is never 0 and never given twice.
function byId(rows, what) {
  const found = new Map();
  for (const row of rows) {
    const id = Number(row.id);
    check(id > 0, `${what} with id 0`);
    check(!found.has(id), `two of ${what} ${id}`);
    found.set(id, row);
  }
  return found;
}

// Exact: sums of 64-bit values can pass 2^53.
function number(value) {
  const exact = BigInt(value);
  check(exact >= BigInt(Number.MIN_SAFE_INTEGER) && exact <= BigInt(Number.MAX_SAFE_INTEGER), `${exact} is no exact number in JSON`);
  return Number(exact);
}

run('pprof_read.mjs', async options => {
  let data = fs.readFileSync(options.file);
  const gzip = data[0] === 0x1f && data[1] === 0x8b;
  if (gzip) {
    data = zlib.gunzipSync(data);
  }
  check(data.length > 0, 'empty');
  const profile = Profile.decode(data);
  const strings = profile.stringTable.strings;
  check(strings[0] === '', 'string 0 is not empty');
  const text = index => {
    check(Number(index) < strings.length && Number(index) >= 0, `string ${index} of ${strings.length}`);
    return strings[Number(index)];
  };
  const valueType = v => ({type: text(v.type), unit: text(v.unit)});

  const functions = byId(profile.function, 'function');
  const locations = byId(profile.location, 'location');
  const mappings = byId(profile.mapping ?? [], 'mapping');
  const frames = new Map();
  for (const [id, location] of locations) {
    check(Number(location.mappingId) === 0 || mappings.has(Number(location.mappingId)), `location ${id} without its mapping`);
    check(location.line.length > 0, `location ${id} without a line`);
    for (const line of location.line) {
      check(functions.has(Number(line.functionId)), `location ${id} without its function`);
    }
    // inlined frames come innermost first, like the locations of a sample
    frames.set(id, location.line.map(line => text(functions.get(Number(line.functionId)).name)));
  }

  const sampleTypes = profile.sampleType.map(valueType);
  check(sampleTypes.length > 0, 'no sample type');
  const countColumn = sampleTypes.findIndex(t => t.unit === 'count');
  const bytesColumn = sampleTypes.findIndex(t => t.unit === 'bytes');
  check(bytesColumn >= 0, 'no value in bytes');
  const types = new Sums(), cumulative = new Sums(), roots = new Sums();
  const totals = sampleTypes.map(() => 0n);
  const stacks = [];
  let edges = 0;
  for (const sample of profile.sample) {
    check(sample.value.length === sampleTypes.length, `sample with ${sample.value.length} values for ${sampleTypes.length} types`);
    sample.value.forEach((v, i) => totals[i] += BigInt.asIntN(64, BigInt(v)));
    const leafFirst = sample.locationId.flatMap(id => {
      check(frames.has(Number(id)), `sample with unknown location ${id}`);
      return frames.get(Number(id));
    });
    check(leafFirst.length > 0, 'sample without a location');
    edges += leafFirst.length;
    const values = sample.value.map(v => number(BigInt.asIntN(64, BigInt(v))));
    const count = countColumn < 0 ? 1 : values[countColumn];
    types.add(leafFirst[0], values[bytesColumn], count);
    roots.add(leafFirst.at(-1), values[bytesColumn], count);
    new Set(leafFirst).forEach(name => cumulative.add(name, values[bytesColumn], count));
    if (options.graph) {
      stacks.push([leafFirst.reverse(), values]);
    }
  }
  const result = {
    format: 'pprof', nodes: profile.sample.length, edges, bytes: number(totals[bytesColumn]), types, cumulative,
    roots: Object.entries(roots.toJSON()).map(([name, [count, bytes]]) => ({name, count, bytes})),
    facts: {
      gzip, sample_types: sampleTypes, totals: totals.map(number), default_sample_type: text(profile.defaultSampleType),
      period_type: profile.periodType === undefined ? null : valueType(profile.periodType), period: number(profile.period),
      time_nanos: String(profile.timeNanos), comments: profile.comment.map(text), functions: functions.size, locations: locations.size,
      mappings: mappings.size, strings: strings.length,
      files: [...new Set([...functions.values()].map(f => text(f.filename)))].filter(name => name !== '').sort(),
      system_names: [...functions.values()].filter(f => text(f.systemName) !== '').length,
    },
  };
  if (options.graph) {
    result.stacks = stacks;
  }
  return result;
});
