import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ExecBuilder } from '../build/exec-builder.ts';
import { Executable } from './executable-file.ts';
import { type DataBlock, ExecutableReader } from './executable-reader.ts';
import { sampleExecutable } from '../testing/sample-executable.ts';

const sample = sampleExecutable();
const file = sample.toBytes({ blockByteLength: 256 });
const headByteLength = file.length - sample.dataByteLength;

interface Source {
  readonly stream: ReadableStream<Uint8Array>;
  /** Why the reader cancelled it, once it has. */
  readonly cancelled: Promise<unknown>;
}

/** A stream of chunks of one length; it stays open at the end when `stalls`. */
function source(bytes: Uint8Array, chunkByteLength: number, stalls = false): Source {
  let position = 0;
  let onCancel: (reason: unknown) => void = () => undefined;
  const cancelled = new Promise((resolve) => (onCancel = resolve));
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (position < bytes.length) {
        controller.enqueue(bytes.slice(position, position + chunkByteLength));
        position += chunkByteLength;
      } else if (!stalls) controller.close();
      else return new Promise(() => undefined);
      return undefined;
    },
    cancel: (reason) => onCancel(reason),
  });
  return { stream, cancelled };
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<DataBlock[]> {
  const reader = await ExecutableReader.open(stream);
  const blocks: DataBlock[] = [];
  for await (const block of reader.blocks()) blocks.push(block);
  return blocks;
}

describe('ExecutableReader', () => {
  test('is opened, of a stream', async () => {
    await expect(ExecutableReader.open(file as never)).rejects.toThrow(
      'ExecutableReader.open: got what is a Uint8Array, expected a ReadableStream.',
    );
    expect(() => Reflect.construct(ExecutableReader, [file]) as unknown).toThrow(
      'ExecutableReader.open: got a call of the constructor, expected ExecutableReader.open(…).',
    );
  });

  test.each([1, 7, 255, 256, 257, 100_000])('reads chunks of %d bytes', async (chunk) => {
    const { stream } = source(file, chunk);
    const reader = await ExecutableReader.open(stream);
    const data = new Uint8Array(reader.executable.dataByteLength);
    let end = 0;
    for await (const { byteOffset, bytes } of reader.blocks()) {
      expect(byteOffset).toBe(end);
      expect(bytes.length).toBeLessThanOrEqual(256);
      data.set(bytes, byteOffset);
      end += bytes.length;
    }
    expect(new Executable(reader.executable, data)).toEqual(sample);
  });

  test('gives the program before the data has come', async () => {
    const { stream } = source(file.subarray(0, headByteLength), 100, true);
    const reader = await ExecutableReader.open(stream);
    expect(reader.executable.functions.map(({ name }) => name)).toEqual(['main', 'helper']);
  });

  test('reports the bytes that have come', async () => {
    const counts: number[] = [];
    const options = { onBytes: (received: number) => void counts.push(received) };
    const reader = await ExecutableReader.open(source(file, 1000).stream, options);
    for await (const _ of reader.blocks()) expect(counts.at(-1)).toBeLessThanOrEqual(file.length);
    expect(counts.at(-1)).toBe(file.length);
  });

  test('reads a file without data, and checks that it ends', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    f.ret(f.void);
    const bytes = b.build().toBytes();
    expect(await readAll(source(bytes, 50).stream)).toEqual([]);
    const longer = Uint8Array.from([...bytes, 0]);
    await expect(readAll(source(longer, 50).stream)).rejects.toThrow(
      'got 1 bytes or more after the data section, expected the end of the file.',
    );
  });

  test('refuses a stream that ends early, anywhere', async () => {
    for (let length = 0; length < file.length; length += 13) {
      await expect(readAll(source(file.subarray(0, length), 100).stream)).rejects.toThrow(
        /^byte \d+: got the end of the file, expected \d+ more bytes of the (header|head|data block \d)\./,
      );
    }
  });

  test('refuses a file with any byte flipped', async () => {
    for (let at = 0; at < file.length; at += 5) {
      const bytes = file.slice();
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      await expect(readAll(source(bytes, 4096).stream)).rejects.toThrow(/got .*, expected /);
    }
  });

  test('gives the blocks before a broken one, and cancels the stream', async () => {
    const bytes = file.slice();
    bytes[file.length - 1] = (bytes[file.length - 1] ?? 0) ^ 1;
    const { stream, cancelled } = source(bytes, 64, true);
    const reader = await ExecutableReader.open(stream);
    const offsets: number[] = [];
    const loop = async (): Promise<void> => {
      for await (const { byteOffset } of reader.blocks()) offsets.push(byteOffset);
    };
    await expect(loop()).rejects.toThrow(/^data block 3, byte \d+: got SHA-256 /);
    expect(offsets).toEqual([0, 256, 512]);
    await cancelled;
  });

  test('does not read ahead by more than a chunk', async () => {
    let delivered = 0;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(file.slice(delivered, delivered + 64));
          delivered += 64;
          if (delivered >= file.length) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const reader = await ExecutableReader.open(stream);
    for await (const { byteOffset, bytes } of reader.blocks()) {
      expect(delivered - headByteLength - byteOffset - bytes.length).toBeLessThan(64);
    }
  });

  test('stops when it is aborted while it waits', async () => {
    const controller = new AbortController();
    const { stream, cancelled } = source(file.subarray(0, 100), 100, true);
    const opening = ExecutableReader.open(stream, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(opening).rejects.toThrow('enough');
    expect(await cancelled).toEqual(new Error('enough'));
  });

  test('stops when it is aborted between blocks', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reader = await ExecutableReader.open(source(file, 64).stream, { signal });
    const loop = async (): Promise<void> => {
      for await (const _ of reader.blocks()) controller.abort();
    };
    await expect(loop()).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('passes on the error of the stream', async () => {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new TypeError('network')),
    });
    await expect(ExecutableReader.open(stream)).rejects.toThrow('network');
  });

  test('gives the blocks once', async () => {
    const reader = await ExecutableReader.open(source(file, 1000).stream);
    for await (const _ of reader.blocks()) break;
    await expect(reader.blocks().next()).rejects.toThrow('got a second call, expected one');
  });

  test('cancels the stream when the loop is left', async () => {
    const { stream, cancelled } = source(file, 64, true);
    const reader = await ExecutableReader.open(stream);
    for await (const _ of reader.blocks()) break;
    expect(await cancelled).toBeUndefined();
  });

  test('a megabyte block and the rest of the next', async () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    const bytes = Uint8Array.from({ length: 2 ** 20 + 5 }, (_, i) => i * 7);
    f.ret(b.tensor(new HostTensor('uint8', [bytes.length], bytes)));
    const blocks = await readAll(source(b.build().toBytes(), 100_000).stream);
    expect(blocks.map((block) => block.bytes.length)).toEqual([2 ** 20, 5]);
    expect(blocks[1]?.bytes).toEqual(bytes.subarray(2 ** 20));
  });
});
