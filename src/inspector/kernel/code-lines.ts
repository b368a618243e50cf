import type { KernelSource } from '../../client/index.ts';
import { formatCount } from '../../core/format-quantity.ts';
import type { ListedLine } from '../view/line-list.ts';

/** Lines longer than this were not written by hand: the package holds shaders without white space. */
const MOST_COLUMNS = 160;

/** A sentence on what the code is for. */
export function describeSource({ language, sizes, shapes, parts }: KernelSource): string {
  const launches = parts.length === 1 ? '1 launch' : `${parts.length} launches`;
  const what = language === 'wgsl' ? launches : formatCount(parts.length, 'step');
  if (parts.length === 0) return 'Nothing runs: the results have no elements.';
  const on = shapes.map((shape) => `(${shape.join(', ')})`).join(' ');
  if (sizes === 'fixed' || shapes.length === 0) return `${LANGUAGES[language]}, ${what}.`;
  const whose = sizes === 'latest' ? 'of the latest call' : 'that stand in for those of a call';
  return `${LANGUAGES[language]}, ${what}, for the sizes ${whose}: ${on}.`;
}

const LANGUAGES = {
  wgsl: 'WGSL',
  wasm: 'Loop nests in WebAssembly',
  host: 'References of operators',
} as const satisfies Record<KernelSource['language'], string>;

/** All parts, one below the other, each under its name. */
export function codeLines({ parts }: KernelSource): readonly ListedLine[] {
  return parts.flatMap(({ label, code, workgroups }, i) => {
    const grid = workgroups === undefined ? '' : `, ${workgroups.join(' x ')} workgroups`;
    const head = `// ${i + 1}. ${label}${grid}`;
    const lines = layOut(code).trimEnd().split('\n');
    const gap: ListedLine[] = i === 0 ? [] : [{ text: '' }];
    return [...gap, { text: head, isMinor: true }, ...lines.map((text) => ({ text }))];
  });
}

/** Code without white space gets a line for each statement; other code stays as it is. */
export function layOut(code: string): string {
  if (code.split('\n').every(({ length }) => length <= MOST_COLUMNS)) return code;
  let result = '';
  let depth = 0;
  let nesting = 0;
  const newLine = (): void => {
    result = `${result.trimEnd()}\n${'  '.repeat(depth)}`;
  };
  for (let i = 0; i < code.length; i++) {
    const character = code.charAt(i);
    if (character === '(' || character === '[') nesting++;
    if (character === ')' || character === ']') nesting--;
    if (character === '}' && nesting === 0) {
      depth--;
      newLine();
    }
    result += character === '\n' && nesting === 0 ? '' : character;
    if (nesting > 0) continue;
    if (character === '{') depth++;
    const next = code.charAt(i + 1);
    const isEnd = character === '{' || character === ';' || character === '\n';
    if (isEnd || (character === '}' && !';,)'.includes(next))) newLine();
  }
  return `${result
    .replaceAll(/ +$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .trim()}\n`;
}
