import { UsageError } from '../core/errors.ts';
import type { FilesSource } from '../worker/protocol/wire-source.ts';
import type { LoadOptions } from './session-options.ts';
import { type PreparedSource, type SessionSource, toWireSource } from './source.ts';

/**
 * The source of a load that keeps its files, or checks their hashes. Rejects with UsageError for what has no address: its
 * bytes are here already, and nobody could ask for them again.
 */
export async function keptSource(
  source: SessionSource,
  {
    cache = false,
    integrity = {},
    externalData,
  }: Pick<LoadOptions, 'cache' | 'integrity' | 'externalData'>,
): Promise<PreparedSource> {
  const { source: wire, transfers } = await toWireSource(source, false);
  if (wire.kind !== 'url' || externalData) {
    throw new UsageError({
      where: 'Session.load, options cache and integrity',
      got: externalData
        ? 'the option externalData beside them'
        : `a source that is ${wire.kind === 'stream' ? 'a stream' : 'bytes'}`,
      expected: 'an address',
      remedy: 'Pass the address of the file, or load the bytes without these options.',
    });
  }
  const { url } = wire;
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');
  const hashes = typeof integrity === 'string' ? { [name]: integrity } : integrity;
  const files: FilesSource = { kind: 'files', url, cache, integrity: hashes };
  return { source: files, transfers };
}
