/** What a package said of a file; errors of the engine are about the package's code, which tells nobody anything. */
export function packageWords(error: unknown): string {
  if (error instanceof RangeError) return 'parts that are too deep inside each other, or too long';
  if (error instanceof TypeError) return 'parts that are missing, or of another kind';
  const words = error instanceof Error ? error.message : String(error);
  return words.replace(/: undefined$/, ': none');
}
