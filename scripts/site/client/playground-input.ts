/** A number of the language with its suffix, such as `1.5f` and `#3`. */
const NUMBER = /#?(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:bf16|[fiu]\d*)?/g;

/**
 * The input with which a program of the documentation runs in the playground, as JSON by names: that of its first `// run:`.
 * Undefined where it says none, or one that JSON cannot write, and for programs that call JavaScript or bring shaders.
 */
export function playgroundInput(program: string): string | undefined {
  const [, given] = /^\/\/ run: \((.*)\) => /m.exec(program) ?? [];
  const [, head] = /def @main\(([^{]*)\{/.exec(program) ?? [];
  if (given === undefined || head === undefined) return undefined;
  if (/^(?:extern def|kernel) /m.test(program)) return undefined;
  const names = [...head.matchAll(/%([\w.]+): /g)].map(([, name = '']) => name);
  try {
    const values: unknown = JSON.parse(`[${given.replaceAll(NUMBER, '$1')}]`);
    if (!Array.isArray(values) || values.length !== names.length) return undefined;
    const fields = names.map((name, at) => `"${name}": ${JSON.stringify(values[at])}`);
    return `{ ${fields.join(', ')} }`;
  } catch {
    return undefined;
  }
}
