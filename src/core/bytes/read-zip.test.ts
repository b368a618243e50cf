import { expect, test } from 'vitest';
import { concatenate } from './concatenate.ts';
import { isZip, zipEntries } from './read-zip.ts';

/** A record of 16- and 32-bit numbers, then bytes. */
function record(fields: readonly (readonly [size: 2 | 4, value: number])[], ...tail: Uint8Array[]) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return concatenate([bytes, ...tail]);
}

const NONE = [2, 0] as const;

/** An archive of one stored file. */
function archive(name: string, content: Uint8Array): Uint8Array {
  const title = new TextEncoder().encode(name);
  const { length } = content;
  const sizes = [[4, 0], [4, length], [4, length], [2, title.length], NONE] as const;
  const local = record(
    [[4, 0x04_03_4b_50], NONE, NONE, NONE, NONE, NONE, ...sizes],
    title,
    content,
  );
  const entry = record(
    [
      [4, 0x02_01_4b_50],
      NONE,
      NONE,
      NONE,
      NONE,
      NONE,
      NONE,
      ...sizes,
      NONE,
      NONE,
      NONE,
      [4, 0],
      [4, 0],
    ],
    title,
  );
  const counts = [NONE, NONE, [2, 1], [2, 1], [4, entry.length], [4, local.length], NONE] as const;
  return concatenate([local, entry, record([[4, 0x06_05_4b_50], ...counts])]);
}

const PLACE = { where: 'a.task', expected: 'an archive' };

test('the files of an archive, also behind other bytes', () => {
  const whole = archive('a.tflite', Uint8Array.of(1, 2, 3));
  expect(isZip(whole)).toBe(true);
  const found = { name: 'a.tflite', method: 0, content: Uint8Array.of(1, 2, 3), byteLength: 3 };
  expect([...zipEntries(whole, PLACE)]).toEqual([found]);
  expect([...zipEntries(concatenate([new Uint8Array(100), whole]), PLACE)]).toEqual([found]);
});

test('an archive that is cut or changed is a FormatError', () => {
  const whole = archive('a.tflite', Uint8Array.of(1, 2, 3));
  const read = (bytes: Uint8Array) => () => [...zipEntries(bytes, PLACE)];
  expect(read(whole.subarray(0, 60))).toThrow(
    'a.task: got no directory of an archive, expected an archive.',
  );
  expect(read(whole.with(41, 0))).toThrow('a.task: got a cut directory, expected an archive.');
  expect(read(whole.with(0, 0))).toThrow('a.task: got a cut entry, expected an archive.');
});
