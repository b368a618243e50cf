import { nodeBuiltin } from '../../core/node-builtin.ts';
import { baseUrl, parseUrl } from '../../core/parse-url.ts';

/** More than one letter: `C:` is a drive. */
const SCHEME = /^[a-z][a-z\d+.-]+:/i;

/**
 * The URL of a source where there is no page to resolve it against: a text that begins with no scheme
 * is the path of a file. Throws UsageError.
 */
export function fileUrl(source: string): string {
  if (nodeBuiltin === undefined || SCHEME.test(source)) return parseUrl(source);
  return nodeBuiltin('node:url').pathToFileURL(source).href;
}

/** An address; where there is no page, the path of a file too. Throws UsageError. */
export function addressOf(source: string | URL): URL {
  const base = baseUrl();
  const isPath = base === undefined && typeof source === 'string';
  return new URL(isPath ? fileUrl(source) : parseUrl(source, base));
}

/** The address of a folder, with the `/` behind it that those of its files need. */
export function folderAt(place: URL): URL {
  return place.pathname.endsWith('/') ? place : new URL(`${place.pathname}/`, place);
}

/** The folder of the model at an address; folders of transformers.js have their models one folder further down. */
export function folderAround(model: URL): URL {
  const own = new URL('./', model);
  return own.pathname.endsWith('/onnx/') ? new URL('../', own) : own;
}
