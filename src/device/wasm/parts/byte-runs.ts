import type { ElementRuns } from '../../../ops/lowering/unit-writes.ts';

/** Begin and length of each run, in bytes. */
export type ByteRuns = Int32Array<ArrayBuffer>;

/** Runs of bytes for all runs of elements, repeated ones each once. */
export function byteRuns(written: readonly ElementRuns[], elementByteLength: number): ByteRuns {
  const runs: number[] = [];
  const add = ({ begin, length, repeats }: ElementRuns): void => {
    const [outermost, ...inner] = repeats;
    if (outermost === undefined) {
      runs.push(begin * elementByteLength, length * elementByteLength);
      return;
    }
    for (let i = 0; i < outermost.count; i++) {
      add({ begin: begin + i * outermost.stride, length, repeats: inner });
    }
  };
  for (const one of written) if (one.length > 0) add(one);
  return new Int32Array(runs);
}

/** How many bytes all runs have together. */
export function runsByteLength(runs: ByteRuns): number {
  let byteLength = 0;
  for (let i = 1; i < runs.length; i += 2) byteLength += runs[i] ?? 0;
  return byteLength;
}

/** The bytes of the runs, one behind the other, in `room` where that is given. */
export function gatherRuns(
  runs: ByteRuns,
  from: Uint8Array,
  room = new ArrayBuffer(runsByteLength(runs)),
): ArrayBuffer {
  const gathered = new Uint8Array(room);
  forRuns(runs, (begin, length, at) => gathered.set(from.subarray(begin, begin + length), at));
  return gathered.buffer;
}

/** Puts such bytes where the runs are. */
export function scatterRuns(runs: ByteRuns, gathered: ArrayBuffer, to: Uint8Array): void {
  const bytes = new Uint8Array(gathered);
  forRuns(runs, (begin, length, at) => to.set(bytes.subarray(at, at + length), begin));
}

function forRuns(runs: ByteRuns, visit: (begin: number, length: number, at: number) => void): void {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const [begin = 0, length = 0] = [runs[i], runs[i + 1]];
    visit(begin, length, at);
    at += length;
  }
}
