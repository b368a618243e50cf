/** A word for a POSIX shell that means nothing else than itself. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
