import { DownloadError, UsageError } from '../core/errors.ts';

/** A hash that bytes go through piece by piece. */
interface IntegrityHash {
  update(bytes: Uint8Array): void;
  /** Throws DownloadError unless the bytes have the hash that was asked for. */
  require(url: string): void;
}

const FORM = /^(sha256|sha384|sha512)-([A-Za-z\d+/]+={0,2})$/;

/**
 * The hash of an `integrity` as pages write it (Subresource Integrity): `sha256-`, `sha384-` or `sha512-` and the hash in
 * base64. Rejects with UsageError for anything else.
 */
export async function integrityHash(integrity: string): Promise<IntegrityHash> {
  const [, name, expected] = FORM.exec(integrity) ?? [];
  if (name === undefined || expected === undefined) {
    throw new UsageError({
      where: 'integrity',
      got: JSON.stringify(integrity),
      expected: 'sha256-, sha384- or sha512- and a hash in base64',
    });
  }
  const { sha256, sha384, sha512 } = await import('./streamed-hashes.ts');
  const hash = { sha256, sha384, sha512 }[name as 'sha256' | 'sha384' | 'sha512'].create();
  return {
    update: (bytes) => void hash.update(bytes),
    require: (url) => {
      const got = btoa(String.fromCharCode(...hash.digest()));
      if (got === expected) return;
      throw new DownloadError(
        {
          where: url,
          got: `a file of the hash ${name}-${got}`,
          expected: `one of ${integrity}`,
          remedy:
            'The file was changed since the hash was written down, or it is not the one that was meant.',
        },
        { details: { url, integrity: `${name}-${got}` } },
      );
    },
  };
}
