import { addressOf } from '../../client/start/file-url.ts';
import { FormatError } from '../../core/errors.ts';
import { filesAt, type ReadFile } from '../../frontend/decoders/reader/model-folder.ts';
import type { CallOptions } from '../task-options.ts';

/** A bundle of models, as MediaPipe packs them: its address, or its bytes. */
export type TaskBundle = string | URL | Uint8Array | Blob;

/** Returns true for bytes, and for an address that ends as those of bundles do. */
export function isBundle(source: unknown): source is TaskBundle {
  if (source instanceof Uint8Array || source instanceof Blob) return true;
  if (typeof source !== 'string' && !(source instanceof URL)) return false;
  return /\.task$/i.test(addressOf(source).pathname);
}

/**
 * Reads models of a bundle, which is fetched once. Rejects with FormatError for another file and where there is none.
 */
export async function openBundle(
  source: TaskBundle,
  { cache, signal }: CallOptions & { readonly cache: boolean },
): Promise<ReadFile> {
  const { modelsOfBundle } = await import('../../frontend/tflite/reader/bundle.ts');
  const models = modelsOfBundle(await bytesOf(source, { cache, signal }));
  return async (name) => models.get(name)?.slice();
}

async function bytesOf(
  source: TaskBundle,
  { cache, signal }: CallOptions & { readonly cache: boolean },
): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  const { href, pathname, search } = addressOf(source);
  const name = `${pathname.split('/').at(-1)}${search}`;
  const bytes = await filesAt(new URL('./', href), { cache })(name, signal);
  if (bytes !== undefined) return bytes;
  const expected = 'a .task bundle of .tflite models';
  throw new FormatError({ where: href, got: 'no such file', expected });
}
