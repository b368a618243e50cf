/** A name that no function has: the one that is wanted, or that with a number. */
export function unusedName(wanted: string, functions: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let i = 1; functions.has(name); i++) name = `${wanted}_${i}`;
  return name;
}
