import { UsageError } from './errors.ts';

/** The absolute form of a URL. Throws UsageError. */
export function parseUrl(url: string | URL, base?: string): string {
  try {
    return new URL(url, base).href;
  } catch (cause) {
    const got = `"${url}"`;
    const where = base === undefined ? 'URL' : `URL relative to ${base}`;
    throw new UsageError({ where, got, expected: 'an address such as /models/m.weft' }, { cause });
  }
}

/** The base of relative addresses: the page, or the file of a worker; undefined in Node. */
export function baseUrl(): string | undefined {
  return globalThis.document?.baseURI ?? globalThis.location?.href;
}

/** Advice for an address that looks like a name of Hugging Face's hub, where nothing is found. */
export function hubAdvice(source: unknown): string | undefined {
  if (typeof source !== 'string' || !/^[\w-]+\/[\w.-]+$/.test(source)) return undefined;
  return `There is no hub behind names: put the files of ${source} on a server and give the address of their folder, or give https://huggingface.co/${source}/resolve/main/.`;
}
