import type { WeftError } from './errors.ts';

/** The page of remedies, with a section for each code. The file in the package; a site may have it elsewhere. */
export const TROUBLESHOOTING = 'weft-vm/docs/troubleshooting.md';

/** The address of the section that says what to do about an error: its code is the anchor. */
export function errorHelp({ code }: WeftError): string {
  return `${TROUBLESHOOTING}#${code.toLowerCase()}`;
}
