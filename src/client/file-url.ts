import { nodeBuiltin } from '../core/node-builtin.ts';
import { parseUrl } from '../core/parse-url.ts';

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
