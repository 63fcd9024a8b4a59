// SPDX-License-Identifier: MIT
// Writes a profile with pprof-format, for the tests of the reader: pprof_sample.mjs FILE; gzip if the name ends in .gz.
// The heap: [static variables] -> Shop.Store (24) -> Shop.Order[] (40) -> 3 x Shop.Order (32 each); [local variables] -> Shop.Order (32).
import fs from 'node:fs';
import zlib from 'node:zlib';
import {Function, Line, Location, Profile, Sample, StringTable, ValueType} from 'pprof-format';

const [file] = process.argv.slice(2);
const stringTable = new StringTable();
const s = text => stringTable.dedup(text);
const names = ['[static variables]', 'Shop.Store', 'Shop.Order[]', 'Shop.Order', '[local variables]'];
const objects = new ValueType({type: s('inuse_objects'), unit: s('count')});
const space = new ValueType({type: s('inuse_space'), unit: s('bytes')});
const profile = new Profile({
  sampleType: [objects, space],
  sample: [[[2, 1], [1, 24]], [[3, 2, 1], [1, 40]], [[4, 3, 2, 1], [3, 96]], [[4, 5], [1, 32]]]
      .map(([locationId, value]) => new Sample({locationId, value})),
  function: names.map((name, i) => new Function({id: i + 1, name: s(name), filename: s(i === 0 || i === 4 ? '' : 'Shop.dll')})),
  location: names.map((_, i) => new Location({id: i + 1, line: [new Line({functionId: i + 1})]})),
  timeNanos: 1700000000000000000n,
  periodType: space,
  period: 1,
  comment: [s('by hand')],
  defaultSampleType: s('inuse_space'),
  stringTable,
});
const data = profile.encode();
fs.writeFileSync(file, file.endsWith('.gz') ? zlib.gzipSync(data) : data);
