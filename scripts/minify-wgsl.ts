import { readFile } from 'node:fs/promises';
import { type ESTree, parseSync, type Plugin } from 'vite';

/** White space and comments but nested ones, words, numbers, and signs of one or more characters. */
const TOKEN =
  /\s+|\/\/.*|\/\*|[A-Za-z_]\w*|(?:\d+\.?|\.\d)(?:[\w.]|(?<=[eE])[+-])*|[-+*/%&|^!=<>]+|./gy;
const WORD = /^[A-Za-z_]/;
const NUMBER = /^\.?\d/;
const SIGN = /^[-+*/%&|^!=<>]/;
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

/**
 * WGSL without comments and needless white space, its parameters and local variables renamed to
 * single letters. What is declared outside functions keeps its name: other pieces of the shader,
 * hooks and messages speak of it.
 */
export function shrinkWgsl(source: string): string {
  const tokens = tokensOf(withAliases(source));
  renameLocals(tokens);
  let result = '';
  for (const [i, token] of tokens.entries()) {
    const before = tokens[i - 1] ?? '';
    const text = NUMBER.test(token) ? shorterNumber(token) : token;
    // A comma may end a list, where it says nothing.
    if (token === ',' && /^[)\]}]$/.test(tokens[i + 1] ?? '')) continue;
    result += mayMerge(before, token) ? ` ${text}` : text;
  }
  return result.trimEnd();
}

/** Vectors and matrices by the names that WGSL has for those of one scalar type. */
function withAliases(text: string): string {
  return text.replace(/\b(vec[234]|mat[234]x[234])<([fiu])32>/g, '$1$2');
}

/** Two words would be one without space between, and so might two signs (`a - -b`, `a & &b`). */
function mayMerge(before: string, token: string): boolean {
  const isWordBefore = WORD.test(before) || NUMBER.test(before);
  if (isWordBefore && (WORD.test(token) || NUMBER.test(token))) return true;
  return SIGN.test(before) && SIGN.test(token);
}

function shorterNumber(text: string): string {
  return text.replace(/^0+(?=\.\d)/, '').replace(/(\d\.)0+$/, '$1');
}

/** All tokens but comments and white space; block comments nest. WGSL has no strings. */
function tokensOf(source: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match !== null; match = TOKEN.exec(source)) {
    const [text] = match;
    if (text === '/*') TOKEN.lastIndex = endOfBlock(source, TOKEN.lastIndex);
    else if (!/^(?:\s|\/\/)/.test(text)) tokens.push(text);
  }
  return tokens;
}

function endOfBlock(source: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  for (let depth = 1; depth > 0; ) {
    const mark = marks.exec(source);
    if (mark === null) return source.length;
    depth += mark[0] === '/*' ? 1 : -1;
  }
  return marks.lastIndex;
}

/** Renames what each function declares. A local name shadows all others in its function. */
function renameLocals(tokens: string[]): void {
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i] !== 'fn') continue;
    const end = endOfFunction(tokens, i);
    const names = localNames(tokens, i, end);
    const taken = new Set<string>();
    for (let at = i; at < end; at++) {
      const token = tokens[at] ?? '';
      if (!names.has(token) && tokens[at - 1] !== '.') taken.add(token);
    }
    const renamed = letters(names, taken);
    for (let at = i; at < end; at++) {
      const token = tokens[at] ?? '';
      if (tokens[at - 1] !== '.' && !isAttributeValue(tokens, at)) {
        tokens[at] = renamed.get(token) ?? token;
      }
    }
    i = end;
  }
}

/** A letter for each name, its first one where that is free, and none of those `taken`. */
function letters(names: ReadonlySet<string>, taken: ReadonlySet<string>): Map<string, string> {
  const free = new Set(LETTERS.filter((letter) => !taken.has(letter)));
  const renamed = new Map<string, string>();
  for (const name of names) {
    const letter = [...name.split(''), ...free].find((candidate) => free.has(candidate)) ?? name;
    renamed.set(name, letter);
    free.delete(letter);
  }
  return renamed;
}

/** Returns true for the first argument of an attribute, such as NAME in `@builtin(NAME)`. */
function isAttributeValue(tokens: readonly string[], at: number): boolean {
  return tokens[at - 1] === '(' && tokens[at - 3] === '@';
}

function endOfFunction(tokens: readonly string[], start: number): number {
  let depth = 0;
  for (let at = tokens.indexOf('{', start); at < tokens.length; at++) {
    if (tokens[at] === '{') depth++;
    if (tokens[at] === '}' && --depth === 0) return at;
  }
  return tokens.length;
}

/** Names that a function declares, in order: its parameters, then `let`, `var` and `const`. */
function localNames(tokens: readonly string[], start: number, end: number): Set<string> {
  const names = new Set<string>();
  const body = tokens.indexOf('{', start);
  for (let at = start; at < end; at++) {
    const token = tokens[at] ?? '';
    const isParameter = at < body && tokens[at + 1] === ':';
    const isVariable = at > body && /^(?:let|var|const)$/.test(tokens[at - 1] ?? '');
    if (WORD.test(token) && (isParameter || isVariable)) names.add(token);
  }
  return names;
}

/**
 * Text of TypeScript that is WGSL: it declares a function, statements end where lines do, or it has
 * words that only WGSL has.
 */
const WGSL_TEXT =
  /\bfn [\w\0]+\(|[;{]\s*$|;\s*\}|^\s*(?:let|var|const) |[\d\0]u\b|\bparams\.|\b(?:vec[234]<|Element4?\(|[fiu]32\()/m;
/** Placeholder for an expression in a template, which may be any text. */
const HOLE = '\0';

/**
 * TypeScript whose template literals hold WGSL, without needless white space in them; names are
 * shortened where a literal has no expressions, so that it declares whole functions.
 */
export function shrinkTemplates(code: string, file: string): string {
  const edits: Edit[] = [];
  forEachTemplate(parseSync(file, code).program, (template) => {
    const source = template.quasis.map(({ value }) => value.cooked ?? '').join(HOLE);
    const text = source.replace(/\/\/[^\n\0]*\n/g, '\n');
    if (!WGSL_TEXT.test(text) || text.includes('//')) return;
    const isWhole = template.expressions.length === 0 && /^(?:fn|struct) /.test(text);
    const shrunk = (isWhole ? shrinkWgsl(text) : squeeze(text)).split(HOLE);
    let start = template.start + 1;
    for (const [i, { value }] of template.quasis.entries()) {
      edits.push({ start, end: start + value.raw.length, text: escaped(shrunk[i] ?? '') });
      start = code.indexOf('}', template.expressions[i]?.end) + 1;
    }
  });
  let result = code;
  for (const { start, end, text } of edits.sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + text + result.slice(end);
  }
  return result;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function forEachTemplate(node: unknown, visit: (template: ESTree.TemplateLiteral) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (isTemplate(node)) visit(node);
  for (const child of Object.values(node)) forEachTemplate(child, visit);
}

function isTemplate(node: object): node is ESTree.TemplateLiteral {
  return 'type' in node && node.type === 'TemplateLiteral';
}

/**
 * Drops white space beside what separates words; beside words, signs and holes some stays. A hole
 * next to a sign is an operand, which may begin with a minus or an ampersand.
 */
function squeeze(source: string): string {
  const text = withAliases(source);
  return text.replace(/\s+/g, (space, at: number) => {
    const before = text[at - 1] ?? HOLE;
    const after = text[at + space.length] ?? HOLE;
    if (/[;{}(),]/.test(before) || /[;{}(),]/.test(after)) return '';
    if (SIGN.test(before) && SIGN.test(after)) return ' ';
    if (/[-&]/.test(before) && after === HOLE) return ' ';
    return /[\w\0]/.test(before) && /[\w\0]/.test(after) ? ' ' : '';
  });
}

function escaped(text: string): string {
  return text.replace(/[\\`]|\$(?=\{)/g, '\\$&');
}

/** Where WGSL is generated. */
const GENERATORS = /\/src\/(?:ops|device\/webgpu\/planner)\/.*\.ts$/;

/**
 * Shrinks `*.wgsl?raw` imports and WGSL in templates in builds; tests and the development server see
 * the files as they are.
 */
export function minifyWgsl(): Plugin {
  return {
    name: 'weft:minify-wgsl',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      const [file, query] = id.split('?');
      if (query !== 'raw' || file === undefined || !file.endsWith('.wgsl')) return null;
      this.addWatchFile(file);
      const text = shrinkWgsl(await readFile(file, 'utf8'));
      return { code: `export default ${JSON.stringify(text)};`, moduleType: 'js' };
    },
    transform(code, id) {
      const [file = id] = id.split('?');
      if (!GENERATORS.test(file)) return null;
      return { code: shrinkTemplates(code, file), map: null };
    },
  };
}
