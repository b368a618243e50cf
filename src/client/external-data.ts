import { type OptionKind, requireKind } from '../core/check-options.ts';
import { DownloadError, UsageError } from '../core/errors.ts';
import type { FilesSource } from '../worker/protocol/wire-source.ts';
import {
  type ExternalData,
  type PreparedSource,
  type SessionSource,
  toWireSource,
} from './source.ts';

const FILE: OptionKind = [
  'a Blob, an ArrayBuffer or a Uint8Array',
  (value) =>
    value instanceof Blob ||
    ArrayBuffer.isView(value) ||
    Object.prototype.toString.call(value) === '[object ArrayBuffer]',
];

/**
 * Loads a model that came as bytes, with the files that its tensors lie in: who reads the model says which one is
 * missing, which is asked for, and the load begins again. Rejects as `load` does, and with UsageError for a source that has an
 * address, or for what is no file.
 */
export async function withExternalData<T>(
  { source, prepared }: { readonly source: SessionSource; readonly prepared: PreparedSource },
  externalData: ExternalData,
  load: (prepared: PreparedSource) => Promise<T>,
): Promise<T> {
  const bytes: Record<string, Blob> = {};
  for (let next = prepared; ; next = await toWireSource(source, false)) {
    const { source: wire, transfers } = next;
    if (wire.kind !== 'bytes' && wire.kind !== 'blob') {
      throw new UsageError({
        where: 'Session.load, option externalData',
        got: wire.kind === 'url' ? 'an address' : 'a stream',
        expected: 'bytes or a Blob',
        remedy: 'Beside an address files are found without it.',
      });
    }
    const files: FilesSource = { kind: 'files', url: 'model', bytes, cache: false, integrity: {} };
    try {
      return await load({ source: { ...wire, files }, transfers });
    } catch (error) {
      const name = error instanceof DownloadError ? error.details['file'] : undefined;
      if (typeof name !== 'string' || Object.hasOwn(bytes, name)) throw error;
      const file = await externalData(name);
      requireKind('externalData', FILE, [`for ${JSON.stringify(name)}`, file]);
      bytes[name] = file instanceof Blob ? file : new Blob([file as BlobPart]);
    }
  }
}
