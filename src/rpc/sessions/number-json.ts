/** Numbers that JSON does not have. */
const OTHERS = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

/** JSON in which `{ "number": "NaN" }` stands for a number that JSON does not have. */
export function numbersToJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'number') return part;
    if (Object.is(part, -0)) return { number: '-0' };
    return Number.isFinite(part) ? part : { number: String(part) };
  });
}

/** The inverse of {@link numbersToJson}, as a reviver for `JSON.parse`. */
export function reviveNumbers(_: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const { number } = part as { readonly number?: unknown };
  return typeof number === 'string' ? (OTHERS.get(number) ?? part) : part;
}
