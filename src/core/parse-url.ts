import { UsageError } from './errors.ts';

/** The absolute form of a URL. Throws UsageError. */
export function parseUrl(url: string | URL, base?: string): string {
  try {
    return new URL(url, base).href;
  } catch (cause) {
    const got = JSON.stringify(url);
    const where = base === undefined ? 'URL' : `URL relative to ${base}`;
    throw new UsageError({ where, got, expected: 'an address such as /models/m.weft' }, { cause });
  }
}

/** The base of relative addresses: the page, or the file of a worker; undefined in Node. */
export function baseUrl(): string | undefined {
  return globalThis.document?.baseURI ?? globalThis.location?.href;
}
