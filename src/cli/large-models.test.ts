import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExecutableReader } from '../bytecode/file/executable-reader.ts';
import { importOnnx } from '../frontend/index.ts';
import { compile } from '../compiler/index.ts';
import { Session, Tensor } from '../client/index.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../testing/onnx-writer.ts';
import { compileCommand } from './commands/compile-command.ts';
import { openExecutable, readExecutableFile } from './files/open-executable.ts';
import { runCommand } from './commands/run-command.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-large-'));
});

afterAll(() => rm(folder, { recursive: true }));

const silent = { out: () => undefined, err: () => undefined, isInteractive: false };

const WIDTH = 2 ** 20;

/** A model whose tables of `rows` rows lie in one file, one after the other. */
function tablesModel(tables: number, rows: number): Uint8Array {
  const names = Array.from({ length: tables }, (_, i) => `t${i}`);
  const byteLength = rows * WIDTH * 4;
  const places = names.map((name, i) => {
    const place = { location: 'tables.bin', offset: String(i * byteLength) };
    return [name, { dtype: 'float32', shape: [rows, WIDTH], place }] as const;
  });
  return writeOnnxModel({
    inputs: [{ name: 'row', dtype: 'int64', shape: [1] }],
    externalInitializers: Object.fromEntries(places),
    nodes: [
      ...names.map((name) => ({ op: 'Gather', inputs: [name, 'row'], outputs: [`${name}_row`] })),
      { op: 'Sum', inputs: names.map((name) => `${name}_row`), outputs: ['y'] },
    ],
    outputs: ['y'],
  });
}

/** Writes numbers into a file with holes. */
async function sparseFile(
  path: string,
  byteLength: number,
  numbers: ReadonlyMap<number, number>,
): Promise<void> {
  const file = await open(path, 'w');
  await file.truncate(byteLength);
  for (const [byteOffset, value] of numbers) {
    await file.write(new Uint8Array(Float32Array.of(value).buffer), 0, 4, byteOffset);
  }
  await file.close();
}

describe('a model of more than 2 GiB', () => {
  const [tables, rows] = [3, 172];
  const tableBytes = rows * WIDTH * 4;
  const at = (table: number, row: number, column: number) =>
    table * tableBytes + (row * WIDTH + column) * 4;

  test('is compiled and written in pieces', { timeout: 120_000 }, async () => {
    const [model, output] = [join(folder, 'large.onnx'), join(folder, 'large.weft')];
    await writeFile(model, tablesModel(tables, rows));
    const numbers = new Map([
      [at(0, 0, 3), 1],
      [at(1, rows - 1, 5), 2],
      [at(2, rows - 1, WIDTH - 2), 4],
    ]);
    await sparseFile(join(folder, 'tables.bin'), tables * tableBytes, numbers);
    expect(tables * tableBytes).toBeGreaterThan(2 ** 31);

    expect(await compileCommand(model, { output }, silent)).toBe(0);
    const { size } = await stat(output);
    const { body } = await openExecutable(output);
    if (body === null) throw new Error('no body');
    const reader = await ExecutableReader.open(body, { byteLength: size });
    const { executable } = reader;
    expect(executable.dataByteLength).toBe(tables * tableBytes);
    const blocks = reader.blocks();
    const first = await blocks.next();
    expect(first.value?.bytes.byteLength).toBeLessThanOrEqual(2 ** 24);
    await blocks.return();

    const file = await open(output, 'r');
    for (const [byteOffset, value] of numbers) {
      const place = size - executable.dataByteLength + byteOffset;
      const { buffer } = await file.read(new Float32Array(3), 0, 12, place - 4);
      expect(Array.from(buffer)).toEqual([0, value, 0]);
    }
    await file.close();
  });
});

describe('weights in files', () => {
  test('are read in pieces no larger than a block', () => {
    const model = tablesModel(2, 140);
    let [largest, total] = [0, 0];
    const externalData = (_: string, { byteLength }: { byteLength: number }): Uint8Array => {
      largest = Math.max(largest, byteLength);
      total += byteLength;
      return new Uint8Array(byteLength);
    };
    const executable = compile(importOnnx(model, { externalData }));
    expect(executable.dataByteLength).toBeGreaterThan(2 ** 30);
    expect(executable.data).toHaveLength(0);
    expect(total, 'bytes that compiling reads').toBeLessThan(16);
    for (const { bytes } of executable.blocks()) {
      largest = Math.max(largest, bytes.byteLength);
      if (total > 2 ** 25) break;
    }
    expect(largest).toBeLessThanOrEqual(2 ** 24);
    expect(() => executable.toTypeScript()).toThrow('bytes of data that are not in memory');
  });

  test('a small program is the same file in chunks, and read by ranges', async () => {
    const input = join(folder, 'small.onnx');
    const output = join(folder, 'small.weft');
    await writeFile(
      input,
      writeOnnxModel({
        inputs: [{ name: 'x', shape: [3] }],
        initializers: { w: HostTensor.from('float32', [3], [1, 2, 3]) },
        nodes: [{ op: 'Mul', inputs: ['x', 'w'], outputs: ['y'] }],
        outputs: ['y'],
      }),
    );
    expect(await compileCommand(input, { output }, silent)).toBe(0);
    const whole = await readExecutableFile(output);
    const byRanges = await readExecutableFile(output, 0);
    expect(byRanges.data).toHaveLength(0);
    expect(byRanges.toBytes()).toEqual(whole.toBytes());
    expect(Buffer.concat([...byRanges.toChunks()])).toEqual(Buffer.from(whole.toBytes()));
    const index = whole.constants.findIndex(({ kind }) => kind === 'tensor');
    expect(Array.from(byRanges.tensor(index).data, Number)).toEqual([1, 2, 3]);
    const session = await Session.load(await openExecutable(output), {
      worker: false,
      device: 'host',
    });
    const { y } = await session.run({ x: Tensor.from([1, 1, 2]) });
    expect(y?.toNested()).toEqual([1, 2, 6]);
    await session.dispose();
  });

  test('a file that is too short, or not there', async () => {
    const input = join(folder, 'short.onnx');
    await writeFile(input, tablesModel(1, 1));
    await sparseFile(join(folder, 'tables.bin'), WIDTH * 4 - 1, new Map());
    const compiling = compileCommand(input, { output: join(folder, 'short.weft') }, silent);
    await expect(compiling).rejects.toThrow(
      `initializer "t0": got ${WIDTH * 4 - 1} bytes at 0 of tables.bin, expected ${WIDTH * 4} bytes`,
    );
    const flags = { rtol: 0, atol: 0, device: 'host' } as const;
    await expect(runCommand(join(folder, 'none.weft'), flags, silent)).rejects.toThrow(
      'none.weft: got no such file, expected a file that can be read.',
    );
  });
});
