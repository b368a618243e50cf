import { readFileSync } from 'node:fs';
import type { Samples } from '../../../src/tasks/index.ts';

/** The samples of a WAVE file with one channel of 16 bits. */
export function readWave(path: string): Samples {
  const file = readFileSync(path);
  let sampleRate = 0;
  for (let at = 12; at < file.length; at += 8 + file.readUInt32LE(at + 4)) {
    const kind = file.toString('latin1', at, at + 4);
    const byteLength = file.readUInt32LE(at + 4);
    if (kind === 'fmt ') sampleRate = file.readUInt32LE(at + 12);
    if (kind !== 'data') continue;
    const samples = Float32Array.from(
      { length: byteLength / 2 },
      (_, i) => file.readInt16LE(at + 8 + i * 2) / 32_768,
    );
    return { samples, sampleRate };
  }
  throw new Error(`${path} has no samples`);
}
