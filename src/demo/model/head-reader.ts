import { type Remote, wrap } from 'comlink';
import { FormatError } from '../../core/errors.ts';
import type { ModelHead } from './model-head.ts';
import type { ModelHeadReader } from './model-head-worker.ts';

let reader: Remote<ModelHeadReader> | undefined;

/** Reads the head of a file of this machine, or at an address. Rejects where it is no model, or cannot be read. */
export async function readHead(source: string | Blob): Promise<ModelHead> {
  reader ??= wrap<ModelHeadReader>(
    new Worker(new URL('./model-head-worker.ts', import.meta.url), { type: 'module' }),
  );
  const head = await (typeof source === 'string'
    ? reader.ofAddress(source)
    : reader.ofFile(source));
  if (typeof head !== 'string') return head;
  throw new FormatError(head);
}
