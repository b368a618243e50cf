import { describe, expect, test } from 'vitest';
import { ByteWriter } from '../core/bytes/byte-writer.ts';
import type { SourcePlace } from '../core/contracts/source-place.ts';
import { decodeSourceMap } from './file/decode-source-map.ts';
import { encodeSourceMap } from './file/encode-source-map.ts';
import { ExecBuilder } from './build/exec-builder.ts';
import { Executable } from './file/executable-file.ts';
import { OPTIONAL_SECTION, SectionId } from './file/file-format.ts';
import { putTogether, takeApart } from './testing/file-surgery.ts';
import { writeVarint } from './file/varint.ts';

const CONV = { source: '/layer.0/conv' };
const RELU = { source: '/layer.0/relu' };
const LINE = { source: 'model.ir', line: 3, column: 7 };

/** `main` calls a kernel of two nodes, then `helper`, of which a line is known. */
function mapped(): Executable {
  const b = new ExecBuilder();
  const type = { dtype: 'float32', shape: [2] } as const;
  b.primitive({
    name: 'kernel',
    params: [type],
    body: [{ op: 'relu', inputs: [0], attributes: {} }],
    results: [{ value: 1, type }],
  });
  const f = b.function('main', ['x', 'y']);
  f.call('vm.builtin.make_tuple', []);
  f.at(CONV, RELU);
  f.call('kernel', [f.param('x'), f.param('y')]);
  f.at(LINE);
  const made = f.call('helper', []);
  f.at();
  f.ret(made);
  const helper = b.function('helper');
  helper.at(RELU);
  helper.ret(0);
  return b.build();
}

describe('the source map of a program', () => {
  test('gives the places of each instruction and of each kernel', () => {
    const map = Executable.fromBytes(mapped().toBytes()).sourceMap;
    expect([0, 1, 2, 3, 4].map((i) => map?.at('main', i))).toEqual([
      [],
      [CONV, RELU],
      [LINE],
      [],
      [],
    ]);
    expect(map?.at('helper', 0)).toEqual([RELU]);
    expect(map?.at('missing', 0)).toEqual([]);
    expect(map?.ofPrimitive('kernel')).toEqual([CONV, RELU]);
    expect(map?.ofPrimitive('missing')).toEqual([]);
    expect(map?.places).toEqual([CONV, RELU, LINE]);
  });

  test('stands in listings, and reads back', () => {
    const executable = mapped();
    expect(executable.toText()).toContain(`
  1: call kernel(%0, %1) from "/layer.0/conv", "/layer.0/relu"
  2: %3 = call helper() from "model.ir":3:7
  3: ret %3 from nowhere
`);
    expect(Executable.fromText(executable.toText()).toBytes()).toEqual(executable.toBytes());
  });

  test('is no part of a program without places, and of no version', () => {
    const b = new ExecBuilder();
    b.function('main').ret(0);
    const plain = b.build();
    expect(plain.sourceMap).toBeUndefined();
    expect(takeApart(plain.toBytes()).sections.map(({ id }) => id)).not.toContain(
      SectionId.sourceMap,
    );
    expect(SectionId.sourceMap).toBeGreaterThan(OPTIONAL_SECTION);
    expect(mapped().toText()).toMatch(/^weft 1\.1\n/);
  });

  test.each([
    [
      'a line of 0',
      { source: 'a', line: 0, column: 1 },
      'place: got a:0:1, expected a line and a column from 1.',
    ],
    ['half a column', { source: 'a', line: 2, column: 1.5 }, 'place: got a:2:1.5, expected a line'],
    [
      'half a character',
      { source: 'a\ud800' },
      'place: got "a\\ud800", with half of a surrogate pair',
    ],
  ])('refuses %s', (_, place, message) => {
    const b = new ExecBuilder();
    const f = b.function('main');
    f.at(place);
    f.ret(0);
    expect(() => b.build()).toThrow(message);
  });

  test('shares the beginnings of names', () => {
    const names = Array.from(
      { length: 100 },
      (_, i) => `/model/layers.${i}/self_attn/q_proj/MatMul`,
    );
    const all = names.map((source): SourcePlace[] => [{ source }]);
    const bytes = encodeSourceMap([all]);
    expect(bytes?.byteLength).toBeLessThan(100 * 35);
    expect(decodeSourceMap(bytes ?? new Uint8Array(), [100]).places).toEqual(all.flat());
    const pairs = ['😀', '😁', '😁!'].map((source): SourcePlace[] => [{ source }]);
    const encoded = encodeSourceMap([pairs]) ?? new Uint8Array();
    expect(decodeSourceMap(encoded, [3]).places).toEqual(pairs.flat());
  });
});

describe('a source map that the encoder would not write is refused', () => {
  /** One name and one place, with these runs of one function of four instructions. */
  const runs = (...numbers: number[]): Uint8Array => {
    const writer = new ByteWriter();
    const name = [1, 0, 1, 0x61];
    for (const number of [...name, 1, 0, 0, ...numbers]) writeVarint(writer, number);
    return writer.finish();
  };

  test('surgery without a fault is read', () => {
    expect(decodeSourceMap(runs(1, 0, 1, 0), [4]).functions).toEqual([[{ start: 0, places: [0] }]]);
  });

  test.each([
    ['an unused place', runs(0), 'places: 1, expected 0, all used'],
    [
      'a place beyond the table',
      runs(1, 0, 1, 2),
      'places: number 1, expected at most 0, the next, of 1',
    ],
    ['an instruction beyond the function', runs(1, 4, 1, 0), 'places 0 at instruction 4'],
    ['a run without a beginning of its own', runs(2, 0, 1, 0, 0, 0), 'places  at instruction 0'],
    ['a run like the one before', runs(2, 0, 1, 0, 1, 1, 0), 'places 0 at instruction 1'],
    ['a place twice in a run', runs(1, 0, 2, 0, 0), 'places 0,0 at instruction 0'],
    ['bytes that are left', runs(1, 0, 1, 0, 0), '1 more bytes'],
    ['a count beyond the bytes', runs(100), '100 runs, expected at most 0'],
    ['a number of too many bytes', Uint8Array.of(0x81, 0), 'of too many bytes'],
    [
      'a name that shares too little',
      Uint8Array.of(2, 0, 1, 0x61, 0, 1, 0x61),
      '0 shared characters',
    ],
  ])('%s', (_, bytes, message) => {
    expect(() => decodeSourceMap(bytes, [4])).toThrow(message);
    expect(() => decodeSourceMap(bytes, [4])).toThrow(
      /section sourceMap, byte \d+: got .*, expected/,
    );
  });

  test('when a file is loaded', () => {
    const parts = takeApart(mapped().toBytes());
    for (const section of parts.sections) {
      if (section.id === SectionId.sourceMap) section.bytes = section.bytes.subarray(1);
    }
    expect(() => Executable.fromBytes(putTogether(parts))).toThrow('section sourceMap, byte ');
  });
});
