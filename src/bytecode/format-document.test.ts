import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { ExecBuilder } from './build/exec-builder.ts';
import {
  CONSTANT_CODES,
  DIM_OPERATOR_CODES,
  MAGIC,
  OPTIONAL_SECTION,
  SectionId,
  SHAPE_STEP_CODES,
} from './file/file-format.ts';
import { ISA } from './isa.ts';

const document = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8');

/** A reader written from docs/format.md alone; it shares no code with the one under test. */
class Cursor {
  readonly #file: DataView;
  at: number;

  constructor(file: Uint8Array, at: number) {
    this.#file = new DataView(file.buffer, file.byteOffset);
    this.at = at;
  }

  u8 = (): number => this.#file.getUint8(this.at++);
  u32 = (): number => this.#file.getUint32((this.at += 4) - 4, true);
  i64 = (): number => Number(this.#file.getBigInt64((this.at += 8) - 8, true));
  string = (): string => String.fromCharCode(...this.list(this.u8));
  list<T>(item: () => T): T[] {
    return Array.from({ length: this.u32() }, item);
  }
}

test('a file can be read by its description alone', () => {
  const b = new ExecBuilder();
  b.metadata('producer', 'me');
  const f = b.function('main', ['x']);
  const sum = f.call('user.add', [
    f.param('x'),
    b.tensor(HostTensor.from('int32', [2], [7, -1])),
    -3,
  ]);
  f.ret(sum);
  const file = b.build().toBytes();

  const header = new Cursor(file, 12);
  const headByteLength = header.u32();
  const dataByteLength = header.i64();
  const blockByteLength = header.u32();
  const sections = new Map<number, Cursor>();
  const sectionCount = header.u32();
  header.at = 64;
  for (let i = 0; i < sectionCount; i++) {
    sections.set(header.u32(), new Cursor(file, header.u32()));
    header.u32();
  }
  const section = (id: number): Cursor => sections.get(id) ?? new Cursor(file, -1);

  expect(headByteLength + dataByteLength).toBe(file.length);
  const zeroed = file.slice(0, headByteLength).fill(0, 32, 64);
  expect(createHash('sha256').update(zeroed).digest()).toEqual(Buffer.from(file.slice(32, 64)));
  const data = file.slice(headByteLength);
  const hashAt = section(8).at;
  expect(blockByteLength).toBeGreaterThan(data.length);
  expect(createHash('sha256').update(data).digest()).toEqual(
    Buffer.from(file.slice(hashAt, hashAt + 32)),
  );

  const functions = section(1);
  const readFunction = (): unknown => ({
    name: functions.string(),
    params: functions.list(functions.string),
    numbers: [functions.u32(), functions.u32(), functions.u32()],
    hasSignature: functions.u8(),
  });
  expect(functions.list(readFunction)).toEqual([
    { name: 'main', params: ['x'], numbers: [2, 0, 9], hasSignature: 0 },
  ]);
  const code = section(2);
  expect(Array.from({ length: 9 }, code.u32)).toEqual([
    1, 1, 0x3000_0000, 3, 0, 0x2000_0000, 0x1fff_fffd, 2, 1,
  ]);
  const table = section(3);
  expect(table.list(() => [table.u8(), table.string()])).toEqual([[3, 'user.add']]);
  const constants = section(4);
  const tensor = (): unknown => ({
    codes: [constants.u8(), constants.u8(), constants.u8()],
    shape: constants.list(constants.i64),
    range: [constants.i64(), constants.i64()],
  });
  expect(constants.list(tensor)).toEqual([{ codes: [1, 8, 0], shape: [2], range: [0, 8] }]);
  expect([...data]).toEqual([7, 0, 0, 0, 255, 255, 255, 255]);
  const metadata = section(7);
  expect(metadata.list(() => [metadata.string(), metadata.string()])).toEqual([['producer', 'me']]);
});

test('the numbers of the document are those of the code', () => {
  const magic = Array.from(MAGIC, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  expect(document).toContain(`\`${magic}\``);
  for (const { name, opcode } of ISA) expect(document).toContain(`| ${name} | ${opcode}, `);
  for (const id of Object.values(SectionId)) {
    expect(document).toContain(`| ${id < OPTIONAL_SECTION ? id : `0x${id.toString(16)}`} | `);
  }
  for (const [op, code] of Object.entries(DIM_OPERATOR_CODES)) {
    expect(document).toContain(`${code} ${op}`);
  }
  for (const [kind, code] of Object.entries(CONSTANT_CODES)) {
    expect(document).toContain(`${code} ${kind}:`);
  }
  expect(document).toContain(`u8: ${SHAPE_STEP_CODES.const} const: i64, 2 load`);
});
