import { expose, transfer } from 'comlink';
import { type DigitBatch, writeBatch } from './write-batch.ts';

/** Writes digits beside the page, which would stand still for a batch of them. */
const writer = {
  write(seed: number, count: number): DigitBatch {
    const batch = writeBatch(seed, count);
    return transfer(batch, [batch.images.buffer, batch.labels.buffer]);
  },
};

export type DigitWriter = typeof writer;

expose(writer);
