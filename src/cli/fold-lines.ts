const INDENT = '    ';

/** Text with long lines broken between parameters and before arrows; `undefined` leaves them as they are. */
export function foldLines(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text
    .split('\n')
    .map((line) => fold(line, columns))
    .join('\n');
}

function fold(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const lines: string[] = [];
  let current = '';
  for (const piece of line.split(/(?<=, )(?=[^ ,()[\]]+: )|(?= -> )/)) {
    if (current.trim() !== '' && current.length + piece.trimEnd().length > columns) {
      lines.push(current.trimEnd());
      current = `${INDENT}${piece.trimStart()}`;
    } else current += piece;
  }
  return [...lines, current].join('\n');
}
