import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where checkpoints, the tokenizer and the log of a training lie. */
export const CHECKPOINTS = fileURLToPath(new URL('../../../.weft-cache/stories/', import.meta.url));

interface Checkpoint {
  readonly steps: number;
  /** The time of all steps. */
  readonly seconds: number;
  /** Weights and running means, as the trainer's `save` writes them. */
  readonly state: Uint8Array;
}

const FILE = join(CHECKPOINTS, 'state.bin');
const HEAD_BYTES = 16;

/** Replaces the last checkpoint. A run that is killed meanwhile leaves that as it was. */
export function writeCheckpoint({ steps, seconds, state }: Checkpoint): void {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeDoubleLE(steps, 0);
  head.writeDoubleLE(seconds, 8);
  writeFileSync(`${FILE}.new`, Buffer.concat([head, state]));
  renameSync(`${FILE}.new`, FILE);
}

/** The last checkpoint; undefined where there is none. */
export function readCheckpoint(): Checkpoint | undefined {
  if (!existsSync(FILE)) return undefined;
  const bytes = readFileSync(FILE);
  return {
    steps: bytes.readDoubleLE(0),
    seconds: bytes.readDoubleLE(8),
    state: new Uint8Array(bytes.subarray(HEAD_BYTES)),
  };
}
